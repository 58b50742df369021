#include "compression/threshold/cpu/tail_sums.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "compression/testing/every_simd_target.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

std::vector<float> Values(size_t count) {
  Random random(17);
  std::vector<float> values(count);
  for (float& value : values) {
    value = random.Below(5) == 0 ? 0.0f
                                 : static_cast<float>(random.Uniform() - 0.5);
  }
  return values;
}

TEST(TailSumsTest, TheyAreThoseOfALoopOverWhatExceeds) {
  for (const size_t count : {0, 1, 15, 16, 17, 1000, 4096}) {
    const std::vector<float> values = Values(count);
    for (const double threshold : {0.0, 0.1, 0.4999, 9.0}) {
      TailSums expected;
      for (const float value : values) {
        const double size = std::fabs(static_cast<double>(value));
        if (!(size > threshold)) continue;
        expected.count += 1;
        expected.sum += size - threshold;
        expected.squares += (size - threshold) * (size - threshold);
        expected.smallest = std::min(expected.smallest, size);
      }
      const TailSums found = SumsAbove(values, threshold);
      EXPECT_EQ(found.count, expected.count);
      EXPECT_NEAR(found.sum, expected.sum, 1e-9);
      EXPECT_NEAR(found.squares, expected.squares, 1e-9);
      EXPECT_EQ(found.smallest, expected.smallest);
    }
  }
}

TEST(TailSumsTest, EverySimdTargetGivesTheSameBits) {
  const std::vector<float> values = Values(3333);
  const TailSums usual = SumsAbove(values, 0.2);
  OnEverySimdTarget([&] {
    const TailSums found = SumsAbove(values, 0.2);
    EXPECT_EQ(found.sum, usual.sum);
    EXPECT_EQ(found.squares, usual.squares);
  });
}

}  // namespace
}  // namespace skerry::compression::cpu
