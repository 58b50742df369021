#include "data/tokenizer/bpe_model.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

BpeModel::Parts Bytes() {
  BpeModel::Parts parts;
  for (int byte = 0; byte < 256; ++byte) {
    parts.byte_tokens[static_cast<size_t>(byte)] = byte;
  }
  return parts;
}

std::vector<int32_t> Encode(const BpeModel& model, const std::string& piece) {
  BpeModel::Scratch scratch;
  std::vector<int32_t> tokens;
  model.Encode(piece, scratch, tokens);
  return tokens;
}

// The definition: while a rule applies, the earliest is applied at its first
// place.
std::vector<int32_t> ByDefinition(const std::vector<MergeRule>& rules,
                                  const std::string& piece) {
  std::vector<int32_t> tokens;
  for (const char c : piece) tokens.push_back(static_cast<uint8_t>(c));
  for (bool merged = true; merged;) {
    merged = false;
    for (size_t rule = 0; rule < rules.size() && !merged; ++rule) {
      for (size_t i = 0; i + 1 < tokens.size() && !merged; ++i) {
        if (tokens[i] != rules[rule].left ||
            tokens[i + 1] != rules[rule].right) {
          continue;
        }
        tokens[i] = rules[rule].result;
        tokens.erase(tokens.begin() + static_cast<ptrdiff_t>(i) + 1);
        merged = true;
      }
    }
  }
  return tokens;
}

TEST(BpeModelTest, EarliestRuleGoesFirst) {
  BpeModel::Parts parts = Bytes();
  parts.merges = {{'b', 'c', 256}, {'a', 'b', 257}, {'a', 256, 258}};
  const BpeModel model = BpeModel::Create(std::move(parts)).value();
  EXPECT_EQ(Encode(model, "abc"), (std::vector<int32_t>{258}));
  EXPECT_EQ(Encode(model, "abab"), (std::vector<int32_t>{257, 257}));
  EXPECT_EQ(Encode(model, ""), std::vector<int32_t>());
}

// Short pieces and long ones are merged by different code.
TEST(BpeModelTest, AnyPieceIsMergedAsTheDefinitionSays) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    BpeModel::Parts parts = Bytes();
    std::vector<int32_t> tokens = {'a', 'b', 'c'};
    std::vector<std::pair<int32_t, int32_t>> pairs;
    for (int32_t next = 256; next < 276; ++next) {
      const std::pair<int32_t, int32_t> pair = {
          tokens[random.Below(tokens.size())],
          tokens[random.Below(tokens.size())]};
      if (std::find(pairs.begin(), pairs.end(), pair) != pairs.end()) continue;
      pairs.push_back(pair);
      parts.merges.push_back({pair.first, pair.second, next});
      tokens.push_back(next);
    }
    const std::vector<MergeRule> rules = parts.merges;
    const BpeModel model = BpeModel::Create(std::move(parts)).value();
    for (const size_t length : {1, 2, 7, 31, 32, 33, 64, 200}) {
      std::string piece;
      for (size_t i = 0; i < length; ++i) {
        piece += static_cast<char>('a' + random.Below(3));
      }
      EXPECT_EQ(Encode(model, piece), ByDefinition(rules, piece))
          << "seed " << seed << " length " << length;
    }
  }
}

TEST(BpeModelTest, WholePiecesNeedNoRule) {
  BpeModel::Parts parts = Bytes();
  parts.merges = {{'a', 'b', 256}};
  parts.whole_pieces = {{"abc", 257}};
  const BpeModel model = BpeModel::Create(std::move(parts)).value();
  EXPECT_EQ(Encode(model, "abc"), (std::vector<int32_t>{257}));
  EXPECT_EQ(Encode(model, "abcd"), (std::vector<int32_t>{256, 'c', 'd'}));
}

TEST(BpeModelTest, OnePairHasOneRule) {
  BpeModel::Parts parts = Bytes();
  parts.merges = {{'a', 'b', 256}, {'a', 'b', 257}};
  EXPECT_TRUE(
      absl::IsInvalidArgument(BpeModel::Create(std::move(parts)).status()));
}

}  // namespace
}  // namespace skerry::data
