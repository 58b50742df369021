#include "compression/chunk_top_k/cpu/select_chunk.h"

#include <limits>
#include <vector>

#include "base/random.h"
#include "compression/top_k/cpu/select.h"
#include "compression/top_k/cpu/testing/sorted_top_k.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

TEST(SelectChunkTest, AChunksTopKEqualsAStableSortForEveryKAndGuess) {
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
TEST(SelectChunkTest, ChunksTopKEqualsAStableSortWhateverTheGuessBefore) {
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

TEST(SelectChunkTest, AChunkWithOneValueThatIsNotFiniteIsRefused) {
  std::vector<float> values(kChunkElements, 0.5f);
  values[1234] = -std::numeric_limits<float>::quiet_NaN();
  for (const uint32_t first_guess : {0u, 0x3f000000u, 0x7f7fffffu}) {
    uint32_t guess = first_guess;
    std::vector<uint32_t> places(kChunkElements + kChunkSlack);
    std::vector<float> kept(3 + kChunkSlack);
    EXPECT_FALSE(SelectChunk(values, 3, guess, places.data(), kept.data()));
  }
}

}  // namespace
}  // namespace skerry::compression::cpu
