#include "data/prepare/text_units.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::HasSubstr;

std::vector<uint64_t> Ends(const std::vector<TextUnit>& units) {
  std::vector<uint64_t> ends;
  for (const TextUnit& unit : units) ends.push_back(unit.end());
  return ends;
}

TEST(TextUnitsTest, JsonLinesStayWholeAndTextIsCut) {
  const std::string lines = "{}\n{\"a\": 1}\n{}\n{}";
  EXPECT_EQ(Ends(UnitsIn({lines}, 4, 9, nullptr)),
            (std::vector<uint64_t>{12, lines.size()}));
  const auto codec = MakeByteCodec();
  EXPECT_EQ(Ends(UnitsIn({"bcdefg", 1}, 4, 9, codec.get())),
            (std::vector<uint64_t>{5, 7}));
  EXPECT_EQ(Ends(UnitsIn({"bcdefg", 1}, 4, 1, codec.get())),
            (std::vector<uint64_t>{5}));
}

// What lies behind a window may be needed to tell where a unit ends.
TEST(TextUnitsTest, AUnitThatAWindowMayCutIsNone) {
  const std::string lines = "{}\n{\"a\": 1}\n{}";
  EXPECT_EQ(Ends(UnitsIn({lines, 0, 1, /*is_last=*/false}, 4, 9, nullptr)),
            (std::vector<uint64_t>{12}));
  EXPECT_TRUE(
      UnitsIn({"{\"a\": ", 0, 1, /*is_last=*/false}, 4, 9, nullptr).empty());
  EXPECT_TRUE(
      UnitsIn({"{}\n{}\n", 0, 1, /*is_last=*/false}, 9, 9, nullptr).empty());
  const auto codec = MakeByteCodec();
  const std::string text(40, 'x');
  EXPECT_EQ(Ends(UnitsIn({text, 0, 1, /*is_last=*/false}, 15, 9, codec.get())),
            (std::vector<uint64_t>{15}));
}

TEST(TextUnitsTest, AMistakeNamesTheLineOfTheFile) {
  const std::string lines =
      "{\"text\": \"a\"}\n\n{\"text\": \"b\"}\n{\"text\": 3}\n{}\n";
  const Stretch stretch{.is_json_lines = true, .end = lines.size()};
  InlineExecutor executor;
  UnitEncoder encoder(*MakeByteCodec(), {{}, "\n"}, executor);
  std::vector<std::vector<int32_t>> tokens;
  const absl::Status status =
      encoder.Encode(stretch, UnitsIn({lines}, 5, 99, nullptr), tokens);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("line 4: "));
  EXPECT_EQ(tokens[0], (std::vector<int32_t>{'a', '\n'}));
}

TEST(TextUnitsTest, ATornLineGivesEachSplitItsPart) {
  const std::string lines = "{\"text\": \"a\"}\n{\"text\": \"bcde\"}\n";
  InlineExecutor executor;
  UnitEncoder encoder(*MakeByteCodec(), {{}, "\n"}, executor);
  const auto encoded = [&](bool has_rest) {
    const Stretch stretch{.is_json_lines = true,
                          .end = lines.size(),
                          .tear = Tear{.line = 14, .text = 3},
                          .has_rest = has_rest};
    std::vector<std::vector<int32_t>> tokens;
    EXPECT_TRUE(
        encoder.Encode(stretch, UnitsIn({lines}, 99, 9, nullptr), tokens).ok());
    return std::string(tokens[0].begin(), tokens[0].end());
  };
  EXPECT_EQ(encoded(false), "a\nbcd\n");
  EXPECT_EQ(encoded(true), "a\ne\n");
}

}  // namespace
}  // namespace skerry::data
