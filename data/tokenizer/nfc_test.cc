#include "data/tokenizer/nfc.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/sha256.h"
#include "data/tokenizer/character.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

TEST(NfcTest, CharactersThatAreWrittenInTwoWaysAreWrittenInOne) {
  EXPECT_EQ(ToNfc(""), "");
  EXPECT_EQ(ToNfc("plain"), "plain");
  EXPECT_EQ(ToNfc("caf\u0065\u0301"), "caf\u00e9");
  EXPECT_EQ(ToNfc("\u00e9"), "\u00e9");
  EXPECT_EQ(ToNfc("\u212b"), "\u00c5");  // Angstrom
  EXPECT_EQ(ToNfc("\u1100\u1161\u11a8"), "\uac01");
  EXPECT_EQ(ToNfc("\uac00\u11a8"), "\uac01");
  // Marks are put in order before they compose, and a mark blocks its like.
  EXPECT_EQ(ToNfc("a\u0301\u0323"), "\u1ea1\u0301");
  EXPECT_EQ(ToNfc("\u00e9\u0323"), "\u1eb9\u0301");
  EXPECT_EQ(ToNfc("a\u0300\u0301"), "\u00e0\u0301");
  EXPECT_EQ(ToNfc("\u0301a"), "\u0301a");
  // Excluded from composition.
  EXPECT_EQ(ToNfc("\u0958"), "\u0915\u093c");
  EXPECT_EQ(ToNfc("\U0001d15e"), "\U0001d157\U0001d165");
}

TEST(NfcTest, BytesThatAreNoTextStayAndPartTheRest) {
  EXPECT_EQ(ToNfc("e\xff\u0301"), "e\xff\u0301");
  EXPECT_EQ(ToNfc("\xcc"), "\xcc");
  EXPECT_EQ(ToNfc("e\u0301\xcc"), "\u00e9\xcc");
  EXPECT_EQ(ToNfc("\xed\xa0\x80"
                  "e\u0301"),
            "\xed\xa0\x80\u00e9");
}

// Two texts around every code point; tools/gen/nfc_tables.py prints the hash of
// what the tokenizers package makes of the same.
TEST(NfcTest, EveryCodePointIsNormalizedAsInTheTokenizersPackage) {
  std::string all;
  for (int32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue;
    std::string c;
    AppendCharacter(code, c);
    for (const std::string& text : {"a" + c + "\u0323\u0301" + c,
                                    c + "\u0338\u3099" + c + "\u1161\u11a8"}) {
      const std::string made = ToNfc(text);
      ASSERT_EQ(ToNfc(made), made) << code;
      if (IsNfc(text)) {
        ASSERT_EQ(made, text) << code;
      }
      all += made;
      all += '\n';
    }
  }
  EXPECT_EQ(Sha256Hex(std::as_bytes(std::span(all))),
            "fa20ad853c02812228af0f15e7586c2cf4606281443691c2d0af192744411c81");
}

// The tokens of a long text are made in parts, which are cut before spaces.
TEST(NfcTest, PartsThatBeginWithASpaceMakeTheWhole) {
  constexpr uint64_t kSeed = 11;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  for (int turn = 0; turn < 2; ++turn) {
    Random random(kSeed);
    const std::vector<std::string> pieces = {
        "e",    "\u0301", "\u0323", " ", "\u1100", "\u1161", "\u11a8",
        "\xcc", "\u00e9", "\u0338", "<", "\u3099", "\u304b", "\U0001d165"};
    for (int round = 0; round < 500; ++round) {
      std::string left, right = " ";
      for (int i = 0; i < 8; ++i) left += pieces[random.Below(pieces.size())];
      for (int i = 0; i < 8; ++i) right += pieces[random.Below(pieces.size())];
      ASSERT_EQ(ToNfc(left) + ToNfc(right), ToNfc(left + right));
    }
  }
}

TEST(NfcTest, TwoHundredThousandMarksOnOneLetterArePutInOrder) {
  std::string text = "a";
  for (int i = 0; i < 200000; ++i) text += i % 2 == 0 ? "\u0301" : "\u0323";
  const std::string made = ToNfc(text);
  EXPECT_EQ(made.substr(0, 3), "\u1ea1");
  EXPECT_EQ(ToNfc(made), made);
}

}  // namespace
}  // namespace skerry::data
