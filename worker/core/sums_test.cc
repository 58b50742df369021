#include "worker/core/sums.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

std::vector<float> Drawn(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.3);
  }
  return values;
}

TEST(Sums, AreThoseOfEachValueOnce) {
  for (const size_t count : {0, 1, 7, 8, 9, 15, 16, 17, 1000, 4099}) {
    const std::vector<float> a = Drawn(count, 1), b = Drawn(count, 2);
    long double sum = 0, squared = 0, apart = 0, apart_squared = 0;
    for (size_t i = 0; i < count; ++i) {
      sum += a[i];
      squared += static_cast<long double>(a[i]) * a[i];
      const long double d = static_cast<long double>(a[i]) - b[i];
      apart += d;
      apart_squared += d * d;
    }
    const Sums own = SumsOf(a);
    const Sums difference = SumsOfDifference(a, b);
    EXPECT_NEAR(own.sum, static_cast<double>(sum), 1e-10) << count;
    EXPECT_NEAR(own.squared, static_cast<double>(squared), 1e-10) << count;
    EXPECT_NEAR(difference.sum, static_cast<double>(apart), 1e-10) << count;
    EXPECT_NEAR(difference.squared, static_cast<double>(apart_squared), 1e-10)
        << count;
  }
}

// The partial sum of a value is part of the result, so that every machine gets
// the same bits.
TEST(Sums, HaveTheBitsOfEightPartialSums) {
  const std::vector<float> values = Drawn(1003, 3);
  double partial[8] = {}, sum = 0;
  for (size_t i = 0; i < values.size(); ++i) partial[i % 8] += values[i];
  for (const double one : partial) sum += one;
  EXPECT_EQ(SumsOf(values).sum, sum);
}

TEST(Sums, TellAValueThatIsNotFinite) {
  for (const size_t at : {0, 5, 8, 12}) {
    std::vector<float> values = Drawn(13, 4);
    values[at] = NAN;
    EXPECT_FALSE(std::isfinite(SumsOf(values).squared));
    values[at] = INFINITY;
    EXPECT_FALSE(std::isfinite(SumsOf(values).squared));
  }
}

}  // namespace
}  // namespace skerry::worker
