#include "trainer/attach/core/one_line.h"

#include <string>

#include "gtest/gtest.h"

namespace skerry::trainer::attach {
namespace {

TEST(OneLineTest, ControlCharactersBecomeBlanks) {
  EXPECT_EQ(OneLine("  a\nb\tc\x1b[0m\n"), "a b c [0m");
  EXPECT_EQ(OneLine(" \n "), "");
}

TEST(OneLineTest, OnlyBytesOfCharactersStay) {
  EXPECT_EQ(OneLine("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x8f\x9d"),
            "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x8f\x9d");
  // Cut short, written too long, half of a pair, beyond the last character.
  for (const char* wrong : {"\xc3", "\xc0\xaf", "\xed\xa0\x80",
                            "\xf4\x90\x80\x80", "\xff", "\x80"}) {
    EXPECT_EQ(OneLine(wrong), std::string(std::string(wrong).size(), '?'));
  }
}

TEST(OneLineTest, LongTextIsCutBetweenCharacters) {
  EXPECT_EQ(OneLine(std::string(1000, 'x')).size(), kOneLineBytesMax);
  std::string text(kOneLineBytesMax - 1, 'x');
  EXPECT_EQ(OneLine(text + "\xc3\xaf"), text);
  EXPECT_EQ(OneLine(text + "\xff\xff"), text + "?");
}

}  // namespace
}  // namespace skerry::trainer::attach
