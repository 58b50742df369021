#include "cli/program_description.h"

#include <fstream>
#include <string>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

constexpr char kWhole[] = R"({"elements": 22, "flops_per_sample": 1.5e6,
  "step_s": 0.25, "samples_per_step": 8, "peak_memory_bytes": 1048576,
  "tensors": [{"name": "a", "shape": [4, 5], "dtype": "f32", "tied": []},
              {"name": "b", "shape": []}, {"name": "c", "shape": [1]}],
  "later": {"releases": ["say", "more"]}})";

std::string Said(const std::string& text) {
  return std::string(ParseProgramDescription(text).status().message());
}

TEST(ProgramDescriptionTest, WhatIsMeasuredIsReadAndTheRestIsSkipped) {
  const auto description = ParseProgramDescription(kWhole);
  ASSERT_TRUE(description.ok()) << description.status();
  EXPECT_EQ(*description,
            (ProgramDescription{22, 1.5e6, 0.25, 8, uint64_t{1} << 20}));
}

TEST(ProgramDescriptionTest, AProgramMayHaveNoOperationsThatAreCounted) {
  EXPECT_TRUE(
      ParseProgramDescription(absl::StrReplaceAll(kWhole, {{"1.5e6", "0"}}))
          .ok());
}

TEST(ProgramDescriptionTest, EveryMemberIsNeededAndChecked) {
  EXPECT_EQ(Said(absl::StrReplaceAll(kWhole, {{"\"elements\"", "\"parts\""}})),
            "elements: is missing");
  EXPECT_EQ(Said(absl::StrReplaceAll(kWhole, {{"22,", "0,"}})),
            "elements: has to be a whole number from 1 to 281474976710656");
  EXPECT_EQ(Said(absl::StrReplaceAll(kWhole, {{"1.5e6", "-1"}})),
            "flops_per_sample: has to be a number from 0 to 1e+30");
  EXPECT_EQ(Said(absl::StrReplaceAll(kWhole, {{"0.25", "0"}})),
            "step_s: has to be a number above 0 to 1e+09");
  EXPECT_EQ(Said(absl::StrReplaceAll(kWhole, {{": 8", ": \"8\""}})),
            "samples_per_step: has to be a whole number from 1 to "
            "281474976710656");
  EXPECT_EQ(Said(absl::StrReplaceAll(kWhole, {{"1048576", "1.5"}})),
            "peak_memory_bytes: has to be a whole number from 0 to "
            "281474976710656");
  EXPECT_EQ(Said(absl::StrReplaceAll(kWhole, {{"[4, 5]", "[4, 6]"}})),
            "tensors: do not add up to elements, which is 22");
  EXPECT_EQ(Said(absl::StrReplaceAll(kWhole, {{"\"name\": \"b\", ", ""}})),
            "tensors[1]: needs a name");
  EXPECT_EQ(Said(absl::StrReplaceAll(kWhole, {{"[4, 5]", "[-4, 5]"}})),
            "tensors[0]: has a shape that no model has");
}

TEST(ProgramDescriptionTest, AnotherTextIsExplained) {
  for (const std::string text :
       {"", "[]", "Traceback (most recent call last):", "{\"elements\": 1"}) {
    EXPECT_EQ(Said(text),
              "has to be the JSON object that `python -m skerry describe` "
              "prints")
        << text;
  }
  EXPECT_NE(Said("{\"a\": " + std::string(100'000, '[')), "");
}

TEST(ProgramDescriptionTest, AFileThatIsWrongIsNamed) {
  const std::string path = testing::TempDir() + "/description.json";
  std::ofstream(path) << "{}";
  EXPECT_EQ(ReadProgramDescription(path).status().message(),
            path + ": elements: is missing");
  EXPECT_FALSE(ReadProgramDescription(path + ".none").ok());
}

}  // namespace
}  // namespace skerry::cli
