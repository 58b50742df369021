#include "compression/cpu/select.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

// Few distinct magnitudes, so that ties are everywhere.
std::vector<float> TiedValues(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.Below(7)) - 3.0f;
  }
  return values;
}

// By a stable sort: larger magnitudes first, of equal ones the first.
std::vector<uint64_t> SortedTopK(const std::vector<float>& values, size_t k) {
  std::vector<uint64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) {
    return std::abs(values[a]) > std::abs(values[b]);
  });
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

TEST(SelectTest, TopKEqualsAStableSortForEveryK) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> values = TiedValues(seed, 67);
    for (size_t k = 0; k <= values.size(); ++k) {
      std::vector<uint64_t> found;
      CollectTopK(values, k, /*offset=*/0, found);
      EXPECT_EQ(found, SortedTopK(values, k)) << "seed " << seed << " k " << k;
    }
  }
}

TEST(SelectTest, KthLargestAndCountAgree) {
  const std::vector<float> values = TiedValues(3, 200);
  for (size_t k = 1; k <= values.size(); ++k) {
    const uint32_t bits = KthLargestMagnitude(values, k);
    EXPECT_GE(CountAtLeast(values, bits), k);
    EXPECT_LT(CountAtLeast(values, bits + 1), k);
  }
}

TEST(SelectTest, OneValueThatIsNotFiniteIsSeen) {
  std::vector<float> values(100, 1.0f);
  EXPECT_TRUE(AllFinite(values));
  values[99] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(AllFinite(values));
  values[99] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(AllFinite(values));
}

}  // namespace
}  // namespace skerry::compression::cpu
