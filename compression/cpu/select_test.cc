#include "compression/cpu/select.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
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

TEST(SelectTest, AChunksTopKEqualsAStableSortForEveryKAndGuess) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> values = TiedValues(seed, 67);
    for (size_t k = 1; k <= values.size(); ++k) {
      for (const uint32_t first_guess : {0u, 1u, 0x3f800000u, 0x7f7fffffu}) {
        uint32_t guess = first_guess;
        std::vector<uint32_t> places(values.size() + kChunkSlack);
        std::vector<float> kept(k + kChunkSlack);
        ASSERT_TRUE(SelectChunk(values, k, guess, places.data(), kept.data()));
        places.resize(k);
        const std::vector<uint64_t> expected = SortedTopK(values, k);
        ASSERT_EQ(std::vector<uint64_t>(places.begin(), places.end()), expected)
            << "seed " << seed << " k " << k << " guess " << first_guess;
        for (size_t i = 0; i < k; ++i) {
          ASSERT_EQ(kept[i], values[expected[i]]);
        }
        EXPECT_GE(CountAtLeast(values, guess), k);
      }
    }
  }
}

// Whole chunks of magnitudes that are spread, as they come one after another:
// each guess is the last one's, good or bad.
TEST(SelectTest, ChunksTopKEqualsAStableSortWhateverTheGuessBefore) {
  Random random(6);
  for (const size_t k : {1, 16, 64, 1000, 1024, 4000, 4096}) {
    uint32_t guess = 0;
    for (const double scale : {1.0, 1.0, 1.1, 1e-30, 1e30, 1.0, 0.97}) {
      std::vector<float> values(kChunkElements);
      for (float& value : values) {
        value = static_cast<float>((random.Uniform() - 0.5) * scale);
      }
      std::vector<uint32_t> places(kChunkElements + kChunkSlack);
      std::vector<float> kept(k + kChunkSlack);
      ASSERT_TRUE(SelectChunk(values, k, guess, places.data(), kept.data()));
      places.resize(k);
      const std::vector<uint64_t> expected = SortedTopK(values, k);
      ASSERT_EQ(std::vector<uint64_t>(places.begin(), places.end()), expected)
          << k << " " << scale;
      for (size_t i = 0; i < k; ++i) ASSERT_EQ(kept[i], values[expected[i]]);
    }
  }
}

TEST(SelectTest, AChunkWithOneValueThatIsNotFiniteIsRefused) {
  std::vector<float> values(kChunkElements, 0.5f);
  values[1234] = -std::numeric_limits<float>::quiet_NaN();
  for (const uint32_t first_guess : {0u, 0x3f000000u, 0x7f7fffffu}) {
    uint32_t guess = first_guess;
    std::vector<uint32_t> places(kChunkElements + kChunkSlack);
    std::vector<float> kept(3 + kChunkSlack);
    EXPECT_FALSE(SelectChunk(values, 3, guess, places.data(), kept.data()));
  }
}

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
