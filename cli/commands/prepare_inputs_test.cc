#include "cli/commands/prepare_inputs.h"

#include <span>

#include "base/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::cli {
namespace {

using ::testing::HasSubstr;

class PrepareInputsTest : public ::testing::Test {
 protected:
  PrepareInputsTest() { EXPECT_TRUE(files_.MakeDirectory("/in").ok()); }

  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(files_
                    .WriteDurably("/in/" + name, std::as_bytes(std::span(
                                                     text.data(), text.size())))
                    .ok());
    paths_.push_back("/in/" + name);
  }
  absl::StatusOr<PrepareInputs> Scan(double fraction) {
    return ScanInputs(paths_, {"text", ""}, fraction, files_, executor_);
  }
  InputPlace CutAt(double fraction) {
    const auto inputs = Scan(fraction);
    EXPECT_TRUE(inputs.ok()) << inputs.status();
    return inputs.ok() ? inputs->validation : InputPlace{99, 99};
  }

  runtime::MemoryFiles files_;
  InlineExecutor executor_;
  std::vector<std::string> paths_;
};

TEST_F(PrepareInputsTest, ValidationBeginsAtALine) {
  Write("a.txt", "aaa\nbbb\n");
  Write("b.txt", "ccc\nddd\n");
  EXPECT_EQ(CutAt(0.4), (InputPlace{1, 4}));
  EXPECT_EQ(CutAt(0.5), (InputPlace{1, 0}));
  const PrepareInputs inputs = Scan(0.4).value();
  EXPECT_EQ(inputs.training_bytes, 12u);
  EXPECT_EQ(inputs.validation_bytes, 4u);
  EXPECT_EQ(inputs.inputs[1].bytes, 8u);
  EXPECT_FALSE(inputs.inputs[1].is_json_lines);
}

TEST_F(PrepareInputsTest, DocumentsOfJsonLinesStayWhole) {
  Write("a.jsonl",
        "{\"text\": \"aaaa\"}\n{\"text\": \"b\\nbb\"}\n\n"
        "{\"text\": \"cccc\"}\n");
  const PrepareInputs inputs = Scan(0.5).value();
  EXPECT_EQ(inputs.validation, (InputPlace{0, 35}));
  EXPECT_EQ(inputs.inputs[0].text_bytes, 12u);
  EXPECT_EQ(inputs.training_bytes, 8u);
  // Otherwise nothing would be left.
  EXPECT_EQ(CutAt(0.1), (InputPlace{0, 35}));
}

TEST_F(PrepareInputsTest, ALineTooLongIsCutWhereTheFractionSays) {
  Write("a.txt", std::string(100, 'x'));
  EXPECT_EQ(CutAt(0.1), (InputPlace{0, 90}));
  // Unless another input is left for validation.
  Write("b.txt", "yy");
  EXPECT_EQ(CutAt(0.1), (InputPlace{0, 100}));
}

TEST_F(PrepareInputsTest, NothingValidatesWhenNothingIsWanted) {
  Write("a.txt", "a\nb");
  EXPECT_EQ(CutAt(0), (InputPlace{1, 0}));
}

TEST_F(PrepareInputsTest, TooLittleTextAndBadLinesAreNamed) {
  Write("a.jsonl", "{\"text\": \"aaaa\"}\n");
  EXPECT_THAT(std::string(Scan(0.5).status().message()),
              HasSubstr("4 bytes, too few"));
  Write("b.jsonl", "\n{\"text\": \"a\"}\n[]\n");
  EXPECT_THAT(std::string(Scan(0.5).status().message()),
              HasSubstr("/in/b.jsonl: line 3: "));
}

TEST_F(PrepareInputsTest, AnInputThatChangesAfterTheScanIsNoticed) {
  Write("a.txt", "aaa\nbbb\n");
  const PrepareInputs inputs = Scan(0.5).value();
  EXPECT_EQ(TextIn(ReadInput(inputs.inputs[0], files_).value()), "aaa\nbbb\n");
  Write("a.txt", "aaa\nbbc\n");
  EXPECT_TRUE(
      absl::IsFailedPrecondition(ReadInput(inputs.inputs[0], files_).status()));
}

}  // namespace
}  // namespace skerry::cli
