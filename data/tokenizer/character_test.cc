#include "data/tokenizer/character.h"

#include <string>

#include "data/tokenizer/character_ranges.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

CharacterClass ClassOf(const std::string& text) {
  EXPECT_EQ(CharacterAt(text, 0).bytes, text.size());
  return CharacterAt(text, 0).kind;
}

TEST(CharacterTest, ClassesAreThoseOfUnicode) {
  EXPECT_EQ(ClassOf("a"), CharacterClass::kLetter);
  EXPECT_EQ(ClassOf("\u00e9"), CharacterClass::kLetter);
  EXPECT_EQ(ClassOf("\u6d77"), CharacterClass::kLetter);
  EXPECT_EQ(ClassOf("\U000323af"), CharacterClass::kLetter);
  EXPECT_EQ(ClassOf("7"), CharacterClass::kNumber);
  EXPECT_EQ(ClassOf("\u00bd"), CharacterClass::kNumber);
  EXPECT_EQ(ClassOf("\u2163"), CharacterClass::kNumber);
  EXPECT_EQ(ClassOf("\v"), CharacterClass::kSpace);
  EXPECT_EQ(ClassOf("\u00a0"), CharacterClass::kSpace);
  EXPECT_EQ(ClassOf("\u3000"), CharacterClass::kSpace);
  EXPECT_EQ(ClassOf("\u0301"), CharacterClass::kOther);
  EXPECT_EQ(ClassOf("\u200b"), CharacterClass::kOther);
  EXPECT_EQ(ClassOf("\U0010ffff"), CharacterClass::kOther);
}

TEST(CharacterTest, AsciiAgreesWithTheRanges) {
  for (int32_t code = 0; code < 128; ++code) {
    CharacterClass expected = CharacterClass::kOther;
    const auto take = [&](auto ranges, CharacterClass kind) {
      for (const CodeRange& range : ranges) {
        if (range.first <= code && code <= range.last) expected = kind;
      }
    };
    take(LetterRanges(), CharacterClass::kLetter);
    take(NumberRanges(), CharacterClass::kNumber);
    take(SpaceRanges(), CharacterClass::kSpace);
    EXPECT_EQ(ClassOf(std::string(1, static_cast<char>(code))), expected)
        << code;
  }
}

TEST(CharacterTest, EveryCodePointComesBack) {
  for (int32_t code = 0; code <= 0x10ffff; ++code) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    std::string text;
    AppendCharacter(code, text);
    size_t length = 0;
    ASSERT_EQ(DecodeCharacter(text, 0, length), code);
    ASSERT_EQ(length, text.size());
  }
}

TEST(CharacterTest, WhatIsNotUtf8IsOneByte) {
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xff", "\xe2\x82"}) {
    size_t length = 9;
    EXPECT_EQ(DecodeCharacter(bad, 0, length), -1) << bad;
    EXPECT_EQ(length, 1u);
    EXPECT_EQ(CharacterAt(bad, 0).kind, CharacterClass::kOther);
  }
}

}  // namespace
}  // namespace skerry::data
