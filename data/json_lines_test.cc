#include "data/json_lines.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(JsonLinesTest, TextsComeInOrder) {
  const auto texts = ReadJsonLines(
      "{\"text\": \"a\\nb\", \"id\": 1}\n\r\n{\"text\": "
      "\"\"}\n{\"text\":\"c\"}",
      "text");
  ASSERT_TRUE(texts.ok()) << texts.status();
  EXPECT_THAT(*texts, ElementsAre("a\nb", "", "c"));
  EXPECT_THAT(ReadJsonLines("", "text").value(), ElementsAre());
}

TEST(JsonLinesTest, MistakesNameTheLine) {
  const auto error = [](const char* lines) {
    const auto texts = ReadJsonLines(lines, "body");
    EXPECT_TRUE(absl::IsInvalidArgument(texts.status()));
    return std::string(texts.status().message());
  };
  EXPECT_THAT(error("{\"body\": \"a\"}\n{\"text\": \"b\"}\n"),
              HasSubstr("line 2: no string under 'body'"));
  EXPECT_THAT(error("\n\n{\"body\": 3}"), HasSubstr("line 3"));
  EXPECT_THAT(error("[1]"), HasSubstr("line 1: no JSON object"));
  EXPECT_THAT(error("{\"body\": \"\xff\"}"), HasSubstr("line 1: no JSON"));
}

}  // namespace
}  // namespace skerry::data
