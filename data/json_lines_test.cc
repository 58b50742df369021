#include "data/json_lines.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(JsonLinesTest, TextsComeInOrder) {
  JsonLineCounts counts;
  const auto texts = ReadJsonLines(
      "{\"text\": \"a\\nb\", \"id\": 1}\n\r\n{\"text\": "
      "\"\"}\n{\"text\":\"c\"}",
      {}, counts);
  ASSERT_TRUE(texts.ok()) << texts.status();
  EXPECT_THAT(*texts, ElementsAre("a\nb", "", "c"));
  EXPECT_EQ(counts.documents, 3u);
  EXPECT_EQ(counts.empty, 1u);
  EXPECT_EQ(counts.skipped, 0u);
  EXPECT_THAT(ReadJsonLines("", {}, counts).value(), ElementsAre());
}

TEST(JsonLinesTest, MistakesNameLineAndColumn) {
  const auto error = [](const char* lines) {
    JsonLineCounts counts;
    const auto texts = ReadJsonLines(lines, {.key = "body"}, counts);
    EXPECT_TRUE(absl::IsInvalidArgument(texts.status()));
    return std::string(texts.status().message());
  };
  EXPECT_THAT(error("{\"body\": \"a\"}\n{\"text\": \"b\"}\n"),
              StartsWith("line 2: no string under 'body'; its keys are text"));
  EXPECT_THAT(error("\n\n{\"body\": 3}"), StartsWith("line 3: no string"));
  EXPECT_THAT(error("[1]"),
              StartsWith("line 1, column 1: expected a JSON obj"));
  EXPECT_THAT(error("\n{\"body\": \"\xff\"}"),
              StartsWith("line 2, column 11:"));
}

TEST(JsonLinesTest, BadLinesAreSkippedAndCountedOnRequest) {
  JsonLineCounts counts;
  const auto texts = ReadJsonLines(
      "{\"text\": \"a\"}\n{\"text\": \n{\"content\": \"b\"}\n"
      "{\"text\": \"c\"}\n",
      {.bad_lines = BadLines::kSkip}, counts);
  ASSERT_TRUE(texts.ok()) << texts.status();
  EXPECT_THAT(*texts, ElementsAre("a", "c"));
  EXPECT_EQ(counts.skipped, 2u);
  EXPECT_THAT(counts.first_skipped, StartsWith("line 2, column 9: "));
  JsonLineCounts more{
      .documents = 5, .empty = 1, .skipped = 1, .first_skipped = "later"};
  counts.Add(more);
  EXPECT_EQ(counts.documents, 7u);
  EXPECT_EQ(counts.skipped, 3u);
  EXPECT_THAT(counts.first_skipped, StartsWith("line 2, column 9: "));
}

}  // namespace
}  // namespace skerry::data
