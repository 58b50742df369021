#include "trainer/attach/core/line_splitter.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::trainer::attach {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Lines(LineSplitter& splitter) {
  std::vector<std::string> lines;
  while (const auto line = splitter.Next()) lines.emplace_back(*line);
  return lines;
}

TEST(LineSplitterTest, LinesAreTheSameHoweverTheirBytesCome) {
  const std::string text = "one\n\nthree is longer\nrest";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    LineSplitter splitter(100);
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size(); at += piece) {
      splitter.Add(text.substr(at, piece));
      for (std::string& line : Lines(splitter)) lines.push_back(line);
    }
    EXPECT_THAT(lines, ElementsAre("one", "", "three is longer"));
    EXPECT_EQ(splitter.Rest(), "rest");
  }
}

TEST(LineSplitterTest, LineWithoutAnEndIsTooLongAtTheBound) {
  LineSplitter splitter(5);
  splitter.Add("1234");
  EXPECT_FALSE(splitter.Next().has_value());
  EXPECT_FALSE(splitter.IsTooLong());
  splitter.Add("5");
  EXPECT_FALSE(splitter.Next().has_value());
  EXPECT_TRUE(splitter.IsTooLong());
  splitter.Clear();
  EXPECT_FALSE(splitter.IsTooLong());
  splitter.Add("a\n");
  EXPECT_THAT(Lines(splitter), ElementsAre("a"));
}

}  // namespace
}  // namespace skerry::trainer::attach
