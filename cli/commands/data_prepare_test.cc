// The folder is made by data/prepare, whose tests say how; here is what the
// command tells of it.
#include "cli/commands/data_prepare.h"

#include <fstream>
#include <span>
#include <sstream>
#include <string>

#include "data/json_lines.h"
#include "data/tokenizer_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Lines(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) {
    text += "line number " + std::to_string(i) + "\n";
  }
  return text;
}

std::string JsonLines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    lines += "{\"text\": \"document " + std::to_string(i) + "\"}\n";
  }
  return lines;
}

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

class DataPrepareTest : public ::testing::Test {
 protected:
  DataPrepareTest() {
    EXPECT_TRUE(files_.MakeDirectory("/in").ok());
    Write("/in/a.txt", Lines(1000, 60));
    Write("/in/b.txt", Lines(2000, 40));
  }

  void Write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(files_.WriteDurably(path, std::as_bytes(std::span(text))).ok());
  }
  absl::Status Prepare() {
    out_.str("");
    return DataPrepare(arguments_, files_, {.out = out_, .err = err_});
  }

  runtime::MemoryFiles files_;
  DataPrepareArguments arguments_{.set = {.inputs = {"/in/a.txt", "/in/b.txt"},
                                          .output_directory = "/out",
                                          .validation_fraction = 0.1}};
  data::PrepareOptions& set_ = arguments_.set;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(DataPrepareTest, TokensAndHowWellBytesCanBePredictedAreTold) {
  set_.shard_tokens_max = 300;
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(out_.str(), HasSubstr("1530 training and 170 validation"));
  EXPECT_THAT(out_.str(), HasSubstr("bigram"));
}

TEST_F(DataPrepareTest, BadLinesAreCountedAndTheFirstIsTold) {
  Write("/in/c.jsonl", JsonLines(20) +
                           "{\"text\":\"x\",\"score\":NaN}\n"
                           "{\"text\":\"cut \\ud83d\"}\n"
                           "{\"text\":\"\"}\n"
                           "{\"text\":\"caf\xe9\"}\n"
                           "{\"content\":\"x\"}\n{\"text\":null}\n{\"te");
  set_.inputs = {"/in/c.jsonl"};
  set_.lines.bad_lines = data::BadLines::kSkip;
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(out_.str(), HasSubstr("23 documents, 1 of them empty;"));
  EXPECT_THAT(out_.str(), HasSubstr("4 bad lines were skipped, the first: "
                                    "/in/c.jsonl: line 24, column 13: "));
}

TEST_F(DataPrepareTest, TheShareThatIsForValidationIsTold) {
  Write("/in/c.jsonl", JsonLines(500) + "{\"text\": \"" +
                           std::string(3'000'000, 'x') + "\"}\n");
  set_.inputs = {"/in/c.jsonl"};
  set_.validation_fraction = 0.05;
  set_.shard_tokens_max = 500'000;
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(out_.str(), HasSubstr("5.00 % of the text is for validation"));
}

TEST_F(DataPrepareTest, MistakesAreNamed) {
  set_.inputs = {"/in/none.txt"};
  EXPECT_TRUE(absl::IsNotFound(Prepare()));
  set_.inputs = {"/in/a.txt"};
  arguments_.threads = -1;
  EXPECT_THAT(std::string(Prepare().message()), HasSubstr("--threads is -1"));
}

// The tokenizer of data/tokenizer/testdata.
class TokenizedTest : public DataPrepareTest {
 protected:
  TokenizedTest() {
    Write("/in/tokenizer.json",
          BytesOf("data/tokenizer/testdata/gpt2_like.json"));
    Write("/in/c.jsonl",
          "{\"text\": \"the sea\"}\n{\"text\": \"the boats\"}\n");
    set_.encoding.tokenizer = "/in/tokenizer.json";
    set_.inputs = {"/in/c.jsonl"};
    set_.validation_fraction = 0.5;
  }
};

TEST_F(TokenizedTest, BytesATokenAreTold) {
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(out_.str(), HasSubstr("bytes a token"));
}

// It may end in the middle of a line.
TEST_F(TokenizedTest, ASampleOfMoreThanAWindowIsTaken) {
  Write("/in/c.jsonl", JsonLines(12'000));
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(out_.str(), HasSubstr("100.00 % of the bytes of a sample"));
}

TEST_F(TokenizedTest, SpecialTokensThatTextsAreWrittenWithAreCounted) {
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    lines += "{\"text\": \"before <|endoftext|> after\"}\n";
  }
  Write("/in/c.jsonl", lines);
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(out_.str(), HasSubstr("40 special tokens come from texts"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("come back")));
  set_.output_directory = "/as_text";
  set_.encoding.written_specials = data::TokenizerFile::WrittenSpecials::kText;
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(out_.str(), Not(HasSubstr("special tokens")));
  set_.encoding.written_specials = data::TokenizerFile::WrittenSpecials::kToken;
  Write("/in/c.jsonl", JsonLines(40));
  set_.output_directory = "/other";
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(out_.str(), Not(HasSubstr("special tokens")));
}

// A model of sentencepiece, and the program that has the library.
class SentencePieceTest : public TokenizedTest {
 protected:
  SentencePieceTest() {
    Write("/in/its.model",
          BytesOf("data/sentencepiece/testdata/llama_like.model"));
    set_.encoding.tokenizer = "/in/its.model";
    arguments_.sentencepiece_program =
        "data/sentencepiece/main/skerry-sentencepiece";
  }
};

TEST_F(SentencePieceTest, TheShareOfBytesThatComesBackIsTold) {
  std::string code;
  for (int i = 0; i < 50; ++i) code += "if the sea:\n        the boats\n";
  Write("/in/c.txt", code);
  set_.inputs = {"/in/c.txt"};
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(out_.str(),
              HasSubstr("100.00 % of the bytes of a sample come back\n"));
  // Trained with the default normalizer, which leaves one space of any number.
  Write("/in/its.model",
        BytesOf("data/sentencepiece/testdata/unigram_like.model"));
  set_.output_directory = "/other";
  set_.encoding.document_end = "none";
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(out_.str(),
              HasSubstr("come back: the tokenizer drops or changes the rest"));
}

}  // namespace
}  // namespace skerry::cli
