#include "data/byte_tokenizer_json.h"

#include <set>
#include <vector>

#include "data/tokenizer/tokenizer_json.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace skerry::data {
namespace {

TEST(ByteTokenizerJsonTest, EveryByteHasItsOwnNumberAndCharacter) {
  const auto json = nlohmann::json::parse(ByteTokenizerJson());
  const auto& vocabulary = json["model"]["vocab"];
  EXPECT_EQ(vocabulary.size(), 256u);
  std::set<int> numbers;
  for (const auto& [character, number] : vocabulary.items()) {
    numbers.insert(number.get<int>());
  }
  EXPECT_EQ(numbers.size(), 256u);
  EXPECT_EQ(*numbers.begin(), 0);
  EXPECT_EQ(*numbers.rbegin(), 255);
}

// As byte-level encodings write them: GPT-2's own vocabulary has "Ġ" for a
// space and "Ċ" for a line feed.
TEST(ByteTokenizerJsonTest, CharactersAreThoseOfByteLevelEncodings) {
  const auto json = nlohmann::json::parse(ByteTokenizerJson());
  const auto& vocabulary = json["model"]["vocab"];
  EXPECT_EQ(vocabulary["a"], 'a');
  EXPECT_EQ(vocabulary["\u0120"], ' ');
  EXPECT_EQ(vocabulary["\u010a"], '\n');
  EXPECT_EQ(vocabulary["\u0100"], 0);
  EXPECT_EQ(vocabulary["\u00ff"], 255);
  EXPECT_EQ(vocabulary["\u0143"], 0xad);
}

TEST(ByteTokenizerJsonTest, ReadAsAnyOtherATokenIsAByte) {
  const auto tokenizer = ParseTokenizerJson(ByteTokenizerJson());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ(tokenizer->vocab_size(), 256);
  EXPECT_EQ(TextEncoder(*tokenizer).Encode("a \xff\n"),
            (std::vector<int32_t>{'a', ' ', 255, '\n'}));
}

}  // namespace
}  // namespace skerry::data
