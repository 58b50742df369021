#include "data/byte_tokenizer.h"

#include "gtest/gtest.h"

namespace skerry::data {
namespace {

TEST(ByteTokenizerTest, EveryByteComesBack) {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) text += static_cast<char>(byte);
  const std::vector<uint16_t> tokens = EncodeBytes(text);
  EXPECT_EQ(tokens[200], 200);
  const std::vector<int32_t> wide(tokens.begin(), tokens.end());
  EXPECT_EQ(DecodeBytes(wide).value(), text);
}

TEST(ByteTokenizerTest, TokensThatAreNoBytesAreRefused) {
  for (const int32_t token : {-1, 256}) {
    const std::vector<int32_t> tokens = {65, token};
    EXPECT_TRUE(absl::IsInvalidArgument(DecodeBytes(tokens).status()));
  }
}

}  // namespace
}  // namespace skerry::data
