#include "cli/commands/text_units.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using ::testing::HasSubstr;

std::vector<TextUnit> UnitsOf(const Stretch& stretch, size_t unit_bytes) {
  const auto codec = data::MakeByteCodec();
  std::vector<TextUnit> units;
  for (size_t at = stretch.begin; at < stretch.end; at = units.back().end) {
    units.push_back(UnitAt(stretch, at, unit_bytes, *codec));
  }
  return units;
}

TEST(TextUnitsTest, JsonLinesStayWholeAndTextIsCut) {
  const std::string lines = "{}\n{\"a\": 1}\n{}\n{}";
  std::vector<TextUnit> units =
      UnitsOf({.file = lines, .is_json_lines = true, .end = lines.size()}, 4);
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(units[0].end, 12u);
  EXPECT_EQ(units[1].end, lines.size());
  units = UnitsOf({.file = "abcdefgh", .begin = 1, .end = 7}, 4);
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(units[0].end, 5u);
  EXPECT_EQ(units[1].end, 7u);
}

TEST(TextUnitsTest, AMistakeNamesTheLineOfTheFile) {
  const std::string lines =
      "{\"text\": \"a\"}\n\n{\"text\": \"b\"}\n{\"text\": 3}\n{}\n";
  const Stretch stretch{
      .file = lines, .is_json_lines = true, .end = lines.size()};
  InlineExecutor executor;
  UnitEncoder encoder(*data::MakeByteCodec(), {"text", "\n"}, executor);
  std::vector<std::vector<int32_t>> tokens;
  const absl::Status status =
      encoder.Encode(stretch, UnitsOf(stretch, 5), tokens);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("line 4: "));
  EXPECT_EQ(tokens[0], (std::vector<int32_t>{'a', '\n'}));
}

}  // namespace
}  // namespace skerry::cli
