#include "data/kept_bytes.h"

#include <gtest/gtest.h>

#include <string>

namespace skerry::data {
namespace {

TEST(KeptBytesTest, TheSameTextIsKeptAndNothingOfAnother) {
  EXPECT_EQ(KeptBytes("a text", "a text"), 6u);
  EXPECT_EQ(KeptBytes("", "a text"), 0u);
  EXPECT_EQ(KeptBytes("a text", ""), 0u);
  EXPECT_EQ(KeptBytes("aaaa", "bbbb"), 0u);
}

// What the default normalizer of sentencepiece does to code.
TEST(KeptBytesTest, LineFeedsAndRunsOfSpacesAreMissed) {
  const std::string text = "def f(x):\n    if x:\n        return 1\n";
  const std::string decoded = "def f(x): if x: return 1";
  // The line feeds with their spaces, but for one byte each that became the
  // space, and the last line feed.
  EXPECT_EQ(KeptBytes(text, decoded), decoded.size());
  EXPECT_EQ(KeptBytes(decoded, " " + text), decoded.size());
}

TEST(KeptBytesTest, ChangedCharactersAreMissed) {
  EXPECT_EQ(KeptBytes("one \uff21 two", "one A two"), 8u);
  EXPECT_EQ(KeptBytes("x" + std::string(50, 'y') + "z", "xz"), 2u);
}

}  // namespace
}  // namespace skerry::data
