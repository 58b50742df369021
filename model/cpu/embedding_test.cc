#include "model/cpu/embedding.h"

#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::model::cpu {
namespace {

constexpr int kRows = 3;
constexpr int kColumns = 7;
constexpr int kTokens = kRows * kColumns;
constexpr int kWidth = 21;
constexpr int kVocab = 5;

std::vector<float> RandomFloats(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.Uniform() - 0.5);
  return values;
}

std::vector<int32_t> Ids() {
  Random random(9);
  std::vector<int32_t> ids(kTokens);
  for (int32_t& id : ids) id = static_cast<int32_t>(random.Below(kVocab));
  return ids;
}

TEST(EmbeddingTest, PartsOfABatchGiveTheWhole) {
  const auto ids = Ids();
  const auto tokens = RandomFloats(1, kVocab * kWidth);
  const auto positions = RandomFloats(2, kColumns * kWidth);
  std::vector<float> out(kTokens * kWidth);
  constexpr int kCut = 10;  // in the middle of a sequence
  EmbeddingForward(kCut, 0, kColumns, kWidth, ids.data(), tokens.data(),
                   positions.data(), out.data());
  EmbeddingForward(kTokens - kCut, kCut, kColumns, kWidth, ids.data() + kCut,
                   tokens.data(), positions.data(), out.data() + kCut * kWidth);
  for (int t = 0; t < kTokens; ++t) {
    for (int i = 0; i < kWidth; ++i) {
      EXPECT_EQ(out[t * kWidth + i], tokens[ids[t] * kWidth + i] +
                                         positions[t % kColumns * kWidth + i]);
    }
  }
}

TEST(EmbeddingTest, GradientsSumOverTheUsesOfARow) {
  const auto ids = Ids();
  const auto dout = RandomFloats(3, kTokens * kWidth);
  std::vector<float> dtokens(kVocab * kWidth, 1.0f);
  std::vector<float> dpositions(kColumns * kWidth, 1.0f);
  for (const auto& [begin, end] : {std::pair(0, 16), std::pair(16, kWidth)}) {
    EmbeddingBackward(kTokens, kColumns, kWidth, begin, end, ids.data(),
                      dout.data(), dtokens.data(), dpositions.data());
  }
  std::vector<double> tokens(dtokens.size(), 1),
      positions(dpositions.size(), 1);
  for (int t = 0; t < kTokens; ++t) {
    for (int i = 0; i < kWidth; ++i) {
      tokens[ids[t] * kWidth + i] += dout[t * kWidth + i];
      positions[t % kColumns * kWidth + i] += dout[t * kWidth + i];
    }
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_NEAR(dtokens[i], tokens[i], 1e-5);
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    EXPECT_NEAR(dpositions[i], positions[i], 1e-5);
  }
}

TEST(EmbeddingTest, WithoutPositionsOnlyTokensCount) {
  const auto ids = Ids();
  const auto tokens = RandomFloats(1, kVocab * kWidth);
  std::vector<float> out(kTokens * kWidth);
  EmbeddingForward(kTokens, 0, kColumns, kWidth, ids.data(), tokens.data(),
                   nullptr, out.data());
  std::vector<float> dtokens(tokens.size());
  EmbeddingBackward(kTokens, kColumns, kWidth, 0, kWidth, ids.data(),
                    out.data(), dtokens.data(), nullptr);
  std::vector<float> expected(tokens.size());
  for (int t = 0; t < kTokens; ++t) {
    for (int i = 0; i < kWidth; ++i) {
      const float value = tokens[ids[t] * kWidth + i];
      EXPECT_EQ(out[t * kWidth + i], value);
      expected[ids[t] * kWidth + i] += value;
    }
  }
  EXPECT_EQ(dtokens, expected);
}

}  // namespace
}  // namespace skerry::model::cpu
