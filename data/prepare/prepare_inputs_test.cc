#include "data/prepare/prepare_inputs.h"

#include <span>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::data {
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
    std::vector<InputFile> inputs;
    for (const std::string& path : paths_) inputs.push_back({path, path});
    return ScanInputs(inputs,
                      {.form = form_,
                       .validation_fraction = fraction,
                       .unit_bytes = unit_bytes_},
                      files_, executor_);
  }
  InputPlace CutAt(double fraction) {
    const auto inputs = Scan(fraction);
    EXPECT_TRUE(inputs.ok()) << inputs.status();
    return inputs.ok() ? inputs->validation.place : InputPlace{99, 99};
  }

  runtime::MemoryFiles files_;
  InlineExecutor executor_;
  std::vector<std::string> paths_;
  TextForm form_;
  size_t unit_bytes_ = 1 << 18;
};

std::string Line(const std::string& text) {
  return "{\"text\": \"" + text + "\"}\n";
}

TEST_F(PrepareInputsTest, ValidationBeginsAtALine) {
  Write("a.txt", "aaa\nbbb\n");
  Write("b.txt", "ccc\nddd\n");
  EXPECT_EQ(CutAt(0.4), (InputPlace{1, 4}));
  EXPECT_EQ(CutAt(0.5), (InputPlace{1, 0}));
  const PrepareInputs inputs = Scan(0.4).value();
  EXPECT_EQ(inputs.training_bytes, 12u);
  EXPECT_EQ(inputs.validation_bytes, 4u);
  EXPECT_EQ(inputs.inputs[1].bytes, 8u);
  EXPECT_FALSE(inputs.inputs[1].is_json_lines());
  EXPECT_TRUE(inputs.splits_as_before);
}

TEST_F(PrepareInputsTest, DocumentsOfJsonLinesStayWholeWithinTheTolerance) {
  std::string lines;
  // A blank line belongs to what is after it.
  for (int i = 0; i < 40; ++i) lines += Line("aaaa") + Line("b\\nbb") + "\n";
  Write("a.jsonl", lines);
  for (const size_t unit_bytes : {1, 50, 1 << 18}) {
    unit_bytes_ = unit_bytes;
    const PrepareInputs inputs = Scan(0.5).value();
    EXPECT_EQ(inputs.validation.place, (InputPlace{0, lines.size() / 2 - 1}));
    EXPECT_EQ(inputs.validation.text, 0u);
    EXPECT_EQ(inputs.inputs[0].text_bytes, 320u);
    EXPECT_EQ(inputs.training_bytes, 160u);
    EXPECT_EQ(inputs.documents(), 80u);
    // One byte less than a document is a document.
    EXPECT_EQ(Scan(3.0 / 320).value().validation_bytes, 4u);
  }
}

// What was 99.9 % of the data once: the last of many documents is longer than
// all others together.
TEST_F(PrepareInputsTest, OneVeryLongDocumentIsCutSoThatTheShareHolds) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += Line("short");
  const std::string longest = Line(std::string(5'000'000, 'x'));
  for (const bool is_last : {true, false}) {
    paths_.clear();
    Write("a.jsonl", is_last ? lines + longest : longest + lines);
    for (const double fraction : {0.01, 0.05, 0.5}) {
      const PrepareInputs inputs = Scan(fraction).value();
      EXPECT_NEAR(static_cast<double>(inputs.validation_bytes) / 5'005'000,
                  fraction, fraction / 4)
          << fraction << is_last;
      EXPECT_FALSE(inputs.splits_as_before);
      EXPECT_EQ(inputs.documents(), 1002u);
    }
  }
  const PrepareInputs inputs = Scan(0.05).value();
  EXPECT_EQ(inputs.validation.place, (InputPlace{0, 0}));
  EXPECT_EQ(inputs.validation.text, inputs.training_bytes);
  EXPECT_EQ(inputs.validation.training_end, longest.size());
}

TEST_F(PrepareInputsTest, ALineTooLongIsCutWhereTheFractionSays) {
  Write("a.txt", std::string(100, 'x'));
  EXPECT_EQ(CutAt(0.1), (InputPlace{0, 90}));
  // Unless another input is left for validation.
  Write("b.txt", "yy");
  EXPECT_EQ(CutAt(0.1), (InputPlace{0, 100}));
}

TEST_F(PrepareInputsTest, ALongLineOfAnyTextIsCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "\u20ac";
  Write("a.txt", "short\n" + text);
  const InputPlace cut = CutAt(0.1);
  EXPECT_EQ((cut.byte - 6) % 3, 0u);
  EXPECT_NEAR(static_cast<double>(cut.byte), 270'005, 3);
  paths_.clear();
  Write("a.jsonl", Line("short") + Line(text));
  const PrepareInputs inputs = Scan(0.1).value();
  EXPECT_EQ(inputs.validation.text % 3, 0u);
  EXPECT_EQ(inputs.validation_bytes, 30'000u);
}

// The last line before the share is taken when the next one is too far.
TEST_F(PrepareInputsTest, TheNearerLineWithinTheToleranceIsTaken) {
  Write("a.txt", std::string(90'000, 'x') + "\n" + std::string(11'000, 'y'));
  EXPECT_EQ(CutAt(0.1), (InputPlace{0, 90'001}));
  EXPECT_FALSE(Scan(0.1).value().splits_as_before);
}

TEST_F(PrepareInputsTest, NothingValidatesWhenNothingIsWanted) {
  Write("a.txt", "a\nb");
  EXPECT_EQ(CutAt(0), (InputPlace{1, 0}));
}

TEST_F(PrepareInputsTest, TooLittleTextAndBadLinesAreNamed) {
  Write("a.jsonl", Line("a"));
  EXPECT_THAT(std::string(Scan(0.5).status().message()),
              HasSubstr("1 bytes of text, too few to be split; give more, or "
                        "--validation 0 "));
  Write("b.jsonl", "\n" + Line("a") + "[]\n");
  unit_bytes_ = 5;
  EXPECT_THAT(std::string(Scan(0.5).status().message()),
              HasSubstr("/in/b.jsonl: line 3, column 1: "));
  form_.lines.bad_lines = BadLines::kSkip;
  const std::vector<std::string> both = paths_;
  paths_ = {"/in/b.jsonl"};
  EXPECT_THAT(std::string(Scan(0.5).status().message()),
              HasSubstr("; 1 bad lines of /in/b.jsonl were skipped, the first: "
                        "line 3, column 1: "));
  paths_ = both;
  Write("c.jsonl", Line("") + Line("text") + Line("text"));
  const PrepareInputs inputs = Scan(0.5).value();
  EXPECT_EQ(inputs.inputs[1].lines.skipped, 1u);
  EXPECT_THAT(inputs.inputs[1].lines.first_skipped,
              HasSubstr("line 3, column 1: "));
  EXPECT_EQ(inputs.inputs[2].lines.empty, 1u);
  EXPECT_EQ(inputs.documents(), 5u);
}

}  // namespace
}  // namespace skerry::data
