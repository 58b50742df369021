#include "data/tokenizer/byte_alphabet.h"

#include "gtest/gtest.h"

namespace skerry::data {
namespace {

TEST(ByteAlphabetTest, EveryByteComesBack) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  EXPECT_EQ(ReadBytes(WriteBytes(bytes)), bytes);
}

TEST(ByteAlphabetTest, CharactersAreThoseOfGpt2) {
  EXPECT_EQ(WriteBytes("a b\n"), "a\u0120b\u010a");
  EXPECT_EQ(CharacterOfByte(0xad), 0x143);
  EXPECT_EQ(CharacterOfByte(0xff), 0xff);
}

TEST(ByteAlphabetTest, OtherCharactersStandForNoByte) {
  EXPECT_EQ(ReadBytes("a b"), std::nullopt);
  EXPECT_EQ(ReadBytes("\u0144"), std::nullopt);
  EXPECT_EQ(ReadBytes("\xff"), std::nullopt);
}

}  // namespace
}  // namespace skerry::data
