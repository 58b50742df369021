#include "compression/top_k/cpu/select.h"

#include <limits>
#include <vector>

#include "compression/top_k/cpu/testing/sorted_top_k.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

TEST(SelectTest, EveryHintLeadsToTheKthLargest) {
  std::vector<float> values = TiedValues(4, 300);
  values[7] = std::numeric_limits<float>::max();
  values[8] = std::numeric_limits<float>::denorm_min();
  for (const size_t k : {1, 2, 50, 299, 300}) {
    const uint32_t expected =
        MagnitudeBits(values[SortedTopK(values, k).back()]);
    const uint32_t found = KthLargestMagnitude(values, k);
    EXPECT_GE(CountAtLeast(values, found), k);
    EXPECT_LT(CountAtLeast(values, found + 1), k);
    EXPECT_LE(found, expected);
    for (const uint32_t hint : {1u, 0x3f800000u, 0x40000000u, 0x7f7fffffu,
                                0x7fffffffu, found, found + 1}) {
      EXPECT_EQ(KthLargestMagnitude(values, k, hint), found) << hint;
    }
  }
}

TEST(SelectTest, ADividingMagnitudeDivides) {
  std::vector<float> distinct(200);
  for (size_t i = 0; i < distinct.size(); ++i) {
    distinct[i] = static_cast<float>(i * i % 211) - 60.5f;
  }
  for (const std::vector<float>& values : {TiedValues(5, 200), distinct}) {
    for (size_t k = 1; k <= values.size(); ++k) {
      for (const uint32_t hint : {0u, 0x3f800000u, 0x7f7fffffu}) {
        const uint32_t bits = DividingMagnitude(values, k, hint);
        EXPECT_GE(CountAtLeast(values, bits), k);
        EXPECT_LE(CountAtLeast(values, bits + 1), k);
      }
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

}  // namespace
}  // namespace skerry::compression::cpu
