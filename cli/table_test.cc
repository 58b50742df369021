#include "cli/table.h"

#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

TEST(TableTest, ColumnsAreAsWideAsTheirWidestCellAndLinesEndClean) {
  Table table({{"A"}, {"COUNT", Align::kRight}, {"B"}});
  table.AddRow({"long", "7", ""});
  table.AddRow({"x", "123456", "y"});
  EXPECT_EQ(table.Text(),
            "A      COUNT  B\n"
            "long       7  -\n"
            "x     123456  y\n");
}

TEST(TableTest, LettersTakeOneColumnHoweverManyBytesTheyHave) {
  Table table({{"A"}, {"B"}});
  table.AddRow({"\xc3\xa4", "x"});
  EXPECT_EQ(table.Text(), "A  B\n\xc3\xa4  x\n");
}

TEST(TableTest, ControlCharactersCannotDriveTheTerminal) {
  EXPECT_EQ(Printable("a\x1b[2Jb\nc\x7f"), "a?[2Jb?c?");
}

TEST(TableTest, AgesHaveTwoUnits) {
  EXPECT_EQ(AgeText(0), "0ms");
  EXPECT_EQ(AgeText(999), "999ms");
  EXPECT_EQ(AgeText(59'999), "59s");
  EXPECT_EQ(AgeText(192'000), "3m12s");
  EXPECT_EQ(AgeText(3'600'000), "1h00m");
  EXPECT_EQ(AgeText(90'000'000), "1d01h");
}

TEST(TableTest, BytesAndShares) {
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText(uint64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(BytesText(UINT64_MAX), "16.0 EiB");
  EXPECT_EQ(PercentText(1, 8), "12.5%");
  EXPECT_EQ(PercentText(0, 0), "-");
}

}  // namespace
}  // namespace skerry::cli
