#include "compression/chunk_top_k/cpu/mark_chunk.h"

#include <limits>
#include <vector>

#include "base/random.h"
#include "compression/testing/every_simd_target.h"
#include "compression/top_k/cpu/testing/sorted_top_k.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

void ExpectMarksTopK(const std::vector<float>& values, size_t k,
                     ChunkGuess& guess) {
  std::vector<uint64_t> words((values.size() + 63) / 64, 0x5555);
  std::vector<float> kept(k + kChunkSlack);
  MarkChunk(values, k, guess, words.data(), kept.data());
  std::vector<uint64_t> marked;
  for (size_t i = 0; i < 64 * words.size(); ++i) {
    if (words[i / 64] >> (i % 64) & 1) marked.push_back(i);
  }
  const std::vector<uint64_t> expected = SortedTopK(values, k);
  ASSERT_EQ(marked, expected);
  for (size_t i = 0; i < k; ++i) ASSERT_EQ(kept[i], values[expected[i]]);
}

TEST(MarkChunkTest, BitsEqualAStableSortForEveryKAndGuess) {
  OnEverySimdTarget([] {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const std::vector<float> values = TiedValues(seed, 64 + 67 * (seed % 2));
      for (size_t k = 1; k <= values.size(); ++k) {
        for (const uint32_t first : {0u, 1u, 0x3f800000u, 0x7f7fffffu}) {
          ChunkGuess guess = {first, 1u << 18};
          ExpectMarksTopK(values, k, guess);
          if (testing::Test::HasFatalFailure()) {
            FAIL() << "seed " << seed << " k " << k << " guess " << first;
          }
        }
      }
    }
  });
}

// Whole chunks of magnitudes that are spread, as they come one after another:
// each guess is the last one's, good or bad.
TEST(MarkChunkTest, BitsEqualAStableSortWhateverTheGuessBefore) {
  Random random(6);
  for (const size_t k : {1, 512, 1000, 1024, 4000, 4096}) {
    ChunkGuess guess;
    for (const double scale : {1.0, 1.0, 1.1, 1e-30, 1e30, 1.0, 0.97}) {
      std::vector<float> values(kChunkElements);
      for (float& value : values) {
        value = static_cast<float>((random.Uniform() - 0.5) * scale);
      }
      ExpectMarksTopK(values, k, guess);
      if (testing::Test::HasFatalFailure()) FAIL() << k << " " << scale;
    }
  }
}

TEST(MarkChunkTest, WhatIsNotFiniteIsAmongTheLargest) {
  std::vector<float> values(kChunkElements, 0.5f);
  values[1234] = -std::numeric_limits<float>::infinity();
  for (const uint32_t first : {0u, 0x3f000000u, 0x7f7fffffu, 0x7fffffffu}) {
    ChunkGuess guess = {first, 1u << 18};
    std::vector<uint64_t> words(kChunkWords);
    std::vector<float> kept(1 + kChunkSlack);
    MarkChunk(values, 1, guess, words.data(), kept.data());
    EXPECT_EQ(kept[0], values[1234]);
    EXPECT_EQ(words[1234 / 64], uint64_t{1} << (1234 % 64));
  }
}

}  // namespace
}  // namespace skerry::compression::cpu
