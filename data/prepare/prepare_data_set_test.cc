#include "data/prepare/prepare_data_set.h"

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "data/manifest.h"
#include "data/prepare/testing/packed_text.h"
#include "data/prepare/testing/prepare.h"
#include "data/token_shard.h"
#include "data/tokenizer/tokenizer_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::data {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string Lines(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) {
    text += "line number " + std::to_string(i) + "\n";
  }
  return text;
}

class PrepareDataSetTest : public ::testing::Test {
 protected:
  PrepareDataSetTest() {
    EXPECT_TRUE(files_.MakeDirectory("/in").ok());
    Write("/in/a.txt", Lines(1000, 60));
    Write("/in/b.txt", Lines(2000, 40));
  }

  void Write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(files_.WriteDurably(path, Bytes(text)).ok());
  }
  std::string Read(const std::string& path) {
    const auto bytes = files_.Read(path);
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    return bytes.ok()
               ? std::string(reinterpret_cast<const char*>(bytes->data()),
                             bytes->size())
               : "";
  }
  Manifest ReadManifest() {
    return ParseManifest(Read("/out/manifest.json")).value();
  }
  // The text of one split, out of its shards.
  std::string TextOf(Split split) {
    std::string text;
    for (const ShardEntry& entry : ReadManifest().shards) {
      if (entry.split != split) continue;
      const std::string bytes = Read("/out/" + entry.file);
      EXPECT_EQ(Sha256Hex(Bytes(bytes)), entry.sha256);
      const auto shard = TokenShard::Parse(Bytes(bytes));
      EXPECT_TRUE(shard.ok());
      std::vector<int32_t> tokens(shard->size());
      EXPECT_EQ(tokens.size(), entry.tokens);
      shard->Read(0, tokens);
      text.append(tokens.begin(), tokens.end());
    }
    return text;
  }
  absl::Status Prepare() {
    return testing::Prepare(options_, {.sentencepiece_program = program_},
                            files_, err_);
  }

  runtime::MemoryFiles files_;
  std::string program_;
  PrepareOptions options_{.inputs = {"/in/a.txt", "/in/b.txt"},
                          .output_directory = "/out",
                          .validation_fraction = 0.1};
  std::ostringstream err_;
};

TEST_F(PrepareDataSetTest, SplitsHoldTheWholeTextCutAtALine) {
  options_.shard_tokens_max = 300;
  ASSERT_TRUE(Prepare().ok());
  const std::string train = TextOf(Split::kTrain);
  const std::string validation = TextOf(Split::kValidation);
  EXPECT_EQ(train + validation, Lines(1000, 60) + Lines(2000, 40));
  EXPECT_EQ(train.back(), '\n');
  EXPECT_EQ(validation, Lines(2030, 10));
  EXPECT_EQ(ReadManifest().shards.size(), 7u);
}

TEST_F(PrepareDataSetTest, NoValidationWhenNoneIsWanted) {
  options_.validation_fraction = 0;
  ASSERT_TRUE(Prepare().ok());
  EXPECT_EQ(TextOf(Split::kValidation), "");
  EXPECT_EQ(TextOf(Split::kTrain).size(), 1700u);
}

TEST_F(PrepareDataSetTest, OneLongLineIsCutWhereTheFractionSays) {
  Write("/in/a.txt", std::string(1000, 'x'));
  options_.inputs = {"/in/a.txt"};
  ASSERT_TRUE(Prepare().ok());
  EXPECT_EQ(TextOf(Split::kValidation).size(), 100u);
}

TEST_F(PrepareDataSetTest, RepeatingIsFineAnotherDataSetIsNot) {
  ASSERT_TRUE(Prepare().ok());
  EXPECT_TRUE(Prepare().ok());
  const std::string before = Read("/out/train_000000.bin");
  options_.inputs = {"/in/b.txt"};
  EXPECT_TRUE(absl::IsAlreadyExists(Prepare()));
  EXPECT_EQ(Read("/out/train_000000.bin"), before);
}

TEST_F(PrepareDataSetTest, FailureAtAnyWriteLeavesNoManifest) {
  for (uint64_t changes = 0; changes < 3; ++changes) {
    files_.FailChangesAfter(changes, absl::ResourceExhaustedError("full"));
    EXPECT_TRUE(absl::IsResourceExhausted(Prepare())) << changes;
    files_.FailChangesAfter(0, absl::OkStatus());
    EXPECT_TRUE(absl::IsNotFound(files_.Read("/out/manifest.json").status()));
  }
  EXPECT_TRUE(Prepare().ok());
}

// The tokenizer of data/tokenizer/testdata.
class TokenizedTest : public PrepareDataSetTest {
 protected:
  TokenizedTest() {
    std::ifstream file("data/tokenizer/testdata/gpt2_like.json");
    std::ostringstream json;
    json << file.rdbuf();
    json_ = json.str();
    Write("/in/tokenizer.json", json_);
    Write("/in/c.jsonl",
          "{\"text\": \"the sea\"}\n{\"text\": \"the boats\"}\n");
    options_.encoding.tokenizer = "/in/tokenizer.json";
    options_.inputs = {"/in/c.jsonl"};
    options_.validation_fraction = 0.5;
  }
  std::vector<int32_t> TokensOf(const std::string& file) {
    const std::string bytes = Read("/out/" + file);
    const auto shard = TokenShard::Parse(Bytes(bytes)).value();
    std::vector<int32_t> tokens(shard.size());
    shard.Read(0, tokens);
    return tokens;
  }
  std::string json_;
};

TEST_F(TokenizedTest, DocumentsEndWithTheirToken) {
  ASSERT_TRUE(Prepare().ok());
  const Manifest manifest = ReadManifest();
  EXPECT_EQ(manifest.tokenizer, "tokenizer.json");
  EXPECT_EQ(manifest.tokenizer_sha256, Sha256Hex(Bytes(json_)));
  EXPECT_EQ(manifest.vocab_size, 481);
  EXPECT_EQ(manifest.document_end, 0);
  EXPECT_EQ(Read("/out/tokenizer.json"), json_);
  const Tokenizer tokenizer = ParseTokenizerJson(json_).value();
  TextEncoder encoder(tokenizer);
  std::vector<int32_t> expected = encoder.Encode("the sea");
  expected.push_back(0);
  EXPECT_EQ(TokensOf("train_000000.bin"), expected);
  EXPECT_EQ(TokensOf("validation_000000.bin").back(), 0);
}

TEST_F(TokenizedTest, AnotherEndOrNoneCanBeNamed) {
  options_.encoding.document_end = "none";
  ASSERT_TRUE(Prepare().ok());
  EXPECT_EQ(ReadManifest().document_end, std::nullopt);
  EXPECT_NE(TokensOf("train_000000.bin").back(), 0);
  options_.encoding.document_end = "[fish]";
  EXPECT_THAT(std::string(Prepare().message()),
              HasSubstr("has no special token [fish]"));
  Write("/in/tokenizer.json", "{}");
  EXPECT_THAT(std::string(Prepare().message()),
              HasSubstr("/in/tokenizer.json: tokenizer.json: "));
}

// A model of sentencepiece, and the program that has the library.
class SentencePieceTest : public TokenizedTest {
 protected:
  SentencePieceTest() {
    std::ifstream file("data/sentencepiece/testdata/llama_like.model",
                       std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    model_ = bytes.str();
    Write("/in/its.model", model_);
    options_.encoding.tokenizer = "/in/its.model";
    program_ = "data/sentencepiece/main/skerry-sentencepiece";
  }
  // It has changed nothing.
  std::string Refused() {
    const absl::Status status = Prepare();
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
    EXPECT_TRUE(absl::IsNotFound(files_.List("/out").status()));
    return std::string(status.message());
  }
  std::string model_;
};

TEST_F(SentencePieceTest, ADataSetHasItsTokensAndItsFile) {
  ASSERT_TRUE(Prepare().ok());
  const Manifest manifest = ReadManifest();
  EXPECT_EQ(manifest.tokenizer, "tokenizer.model");
  EXPECT_EQ(manifest.tokenizer_sha256, Sha256Hex(Bytes(model_)));
  EXPECT_EQ(manifest.vocab_size, 620);
  EXPECT_EQ(manifest.document_end, 2);
  EXPECT_EQ(Read("/out/tokenizer.model"), model_);
  // "the" and "sea" with their spaces, and the end.
  const std::vector<int32_t> tokens = TokensOf("train_000000.bin");
  EXPECT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens.back(), 2);
  EXPECT_EQ(tokens[0], TokensOf("validation_000000.bin")[0]);
}

TEST_F(SentencePieceTest, AnotherEndOrNoneCanBeNamed) {
  options_.encoding.document_end = "none";
  ASSERT_TRUE(Prepare().ok());
  EXPECT_EQ(ReadManifest().document_end, std::nullopt);
  EXPECT_EQ(TokensOf("train_000000.bin").size(), 2u);
  options_.output_directory = "/other";
  options_.encoding.document_end = "<s>";
  ASSERT_TRUE(Prepare().ok());
  options_.encoding.document_end = "the";
  EXPECT_THAT(std::string(Prepare().message()),
              HasSubstr("has no special token the"));
}

TEST_F(SentencePieceTest, WhatIsNoWholeModelIsRefusedInOneLine) {
  Write("/in/its.model", model_.substr(0, 3000));
  EXPECT_EQ(Refused(),
            "/in/its.model: is no whole model of sentencepiece: it ends inside "
            "a field; get the file anew");
  Write("/in/its.model",
        "\x7f"
        "ELF");
  EXPECT_EQ(Refused(),
            "/in/its.model: is neither a tokenizer.json nor a model of "
            "sentencepiece (tokenizer.model)");
}

TEST_F(SentencePieceTest, AProgramThatIsMissingIsSaidBeforeAnythingIsRead) {
  program_ = "/no/skerry-sentencepiece";
  options_.inputs = {"/in/none.txt"};
  EXPECT_EQ(Refused(),
            "/in/its.model: a model of sentencepiece is read by "
            "skerry-sentencepiece, and there is none: cannot run "
            "/no/skerry-sentencepiece: No such file or directory; install it "
            "beside this program");
}

TEST_F(PrepareDataSetTest, BytesOfJsonLinesEndWithALine) {
  Write("/in/c.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n");
  options_.inputs = {"/in/c.jsonl"};
  options_.validation_fraction = 0.5;
  ASSERT_TRUE(Prepare().ok());
  EXPECT_EQ(TextOf(Split::kTrain), "one\n");
  EXPECT_EQ(TextOf(Split::kValidation), "two\n");
}

std::string JsonLines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    lines += "{\"text\": \"document " + std::to_string(i) + "\"}\n";
  }
  return lines;
}

// D19: all of these were prepared as raw bytes once.
TEST_F(PrepareDataSetTest, EveryKindOfFileGivesItsDocumentsOrIsRefused) {
  const std::string lines = JsonLines(200);
  options_.validation_fraction = 0;
  Write("/in/plain.jsonl", lines);
  options_.inputs = {"/in/plain.jsonl"};
  ASSERT_TRUE(Prepare().ok());
  const std::string expected = TextOf(Split::kTrain);
  int sets = 0;
  for (const auto& [name, content] :
       std::vector<std::pair<std::string, std::string>>{
           {"d.jsonl.gz", testing::Gzip(lines)},
           {"d.jsonl.zst", testing::Zstd(lines)},
           {"without_ending", testing::Gzip(lines)},
           {"d.ndjson", lines},
           {"d.JSONL", lines},
           {"d.json", lines}}) {
    Write("/in/" + name, content);
    options_.inputs = {"/in/" + name};
    options_.output_directory = "/out" + std::to_string(sets++);
    ASSERT_TRUE(Prepare().ok()) << name;
    EXPECT_EQ(Read(options_.output_directory + "/train_000000.bin"),
              Read("/out/train_000000.bin"))
        << name;
    EXPECT_THAT(err_.str(),
                HasSubstr("/in/" + name + " is read as JSON lines"));
  }
  EXPECT_EQ(expected.substr(0, 11), "document 0\n");
  options_.output_directory = "/other";
  for (const auto& [name, content] :
       std::vector<std::pair<std::string, std::string>>{
           {"d.json", "[" + lines.substr(0, lines.size() - 1) + "]"},
           {"d.txt", std::string("\xff\xfe") + std::string("t\0", 2)},
           {"d.parquet", "PAR1 and so on"},
           {"d.jsonl.gz", testing::Gzip(lines).substr(0, 200)},
           {"d.jsonl.bz2", "BZh91AY&SY"}}) {
    Write("/in/" + name, content);
    options_.inputs = {"/in/" + name};
    const absl::Status refused = Prepare();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << name << ": " << refused;
    EXPECT_THAT(std::string(refused.message()),
                ::testing::StartsWith("/in/" + name + ": "));
    EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("\n")));
  }
  EXPECT_TRUE(files_.List("/other").value().empty());
}

TEST_F(PrepareDataSetTest, APipeIsReadOnceAndNothingOfItStays) {
  ASSERT_TRUE(Prepare().ok());
  const std::string expected = Read("/out/manifest.json");
  options_.output_directory = "/piped";
  for (int run = 0; run < 2; ++run) {
    Write("/in/a.txt", Lines(1000, 60));
    files_.MakePipe("/in/a.txt");
    ASSERT_TRUE(Prepare().ok());
    EXPECT_EQ(Read("/piped/manifest.json"), expected);
    EXPECT_EQ(files_.List("/piped").value(),
              (std::vector<std::string>{"manifest.json", "prepare.json",
                                        "train_000000.bin",
                                        "validation_000000.bin"}));
  }
  options_.inputs = {"-", "-"};
  EXPECT_THAT(std::string(Prepare().message()),
              HasSubstr("standard input, -, can be named once"));
}

TEST_F(PrepareDataSetTest, BadLinesStopOrAreSkippedAndCounted) {
  Write("/in/c.jsonl", JsonLines(20) +
                           "{\"text\":\"x\",\"score\":NaN}\n"
                           "{\"text\":\"cut \\ud83d\"}\n"
                           "{\"text\":\"\"}\n"
                           "{\"text\":\"caf\xe9\"}\n"
                           "{\"content\":\"x\"}\n{\"text\":null}\n{\"te");
  options_.inputs = {"/in/c.jsonl"};
  EXPECT_THAT(std::string(Prepare().message()),
              HasSubstr("/in/c.jsonl: line 24, column 13: the byte E9"));
  options_.lines.bad_lines = BadLines::kSkip;
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(TextOf(Split::kTrain) + TextOf(Split::kValidation),
              HasSubstr("document 19\nx\ncut \ufffd\n\n"));
}

TEST_F(TokenizedTest, TextsThatAreWrittenLikeSpecialTokensMayStayText) {
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    lines += "{\"text\": \"before <|endoftext|> after\"}\n";
  }
  Write("/in/c.jsonl", lines);
  ASSERT_TRUE(Prepare().ok());
  options_.output_directory = "/as_text";
  options_.encoding.written_specials = TokenizerFile::WrittenSpecials::kText;
  ASSERT_TRUE(Prepare().ok());
  EXPECT_GT(Read("/as_text/train_000000.bin").size(),
            Read("/out/train_000000.bin").size());
  options_.encoding.written_specials = TokenizerFile::WrittenSpecials::kToken;
  EXPECT_THAT(std::string(Prepare().message()),
              HasSubstr("begun with --special-tokens as-text"));
}

// D20: one line of 50 MB made validation 99.9 % of the data.
TEST_F(PrepareDataSetTest, ALineLongerThanAllOthersLeavesTheShareAsItIs) {
  std::string lines = JsonLines(500);
  lines += "{\"text\": \"" + std::string(3'000'000, 'x') + "\"}\n";
  Write("/in/c.jsonl", lines);
  options_.inputs = {"/in/c.jsonl"};
  options_.validation_fraction = 0.05;
  options_.shard_tokens_max = 500'000;
  ASSERT_TRUE(Prepare().ok());
  const Manifest manifest = ReadManifest();
  const auto validation =
      static_cast<double>(TokenCount(manifest, Split::kValidation));
  const auto training =
      static_cast<double>(TokenCount(manifest, Split::kTrain));
  EXPECT_NEAR(validation / (training + validation), 0.05, 0.05 / 4);
  EXPECT_THAT(Read("/out/prepare.json"), HasSubstr("\"validation_at\""));
}

TEST_F(PrepareDataSetTest, FilesThatItDidNotMakeAreNeverReplaced) {
  for (const char* name : {"train_000000.bin", "validation_000007.bin",
                           "manifest.json", "prepare.json"}) {
    options_.output_directory = std::string("/of_") + name;
    ASSERT_TRUE(files_.MakeDirectory(options_.output_directory).ok());
    const std::string path = options_.output_directory + "/" + name;
    Write(path, "somebody's");
    const absl::Status refused = Prepare();
    EXPECT_TRUE(absl::IsAlreadyExists(refused)) << name << ": " << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr(path));
    EXPECT_EQ(Read(path), "somebody's");
    EXPECT_EQ(files_.List(options_.output_directory).value(),
              std::vector<std::string>{name});
  }
}

TEST_F(TokenizedTest, AnotherTokenizerInTheFolderIsNotReplaced) {
  ASSERT_TRUE(files_.MakeDirectory("/out").ok());
  Write("/out/tokenizer.json", "{}");
  EXPECT_TRUE(absl::IsAlreadyExists(Prepare()));
  EXPECT_EQ(Read("/out/tokenizer.json"), "{}");
  Write("/out/tokenizer.json", json_);
  EXPECT_TRUE(Prepare().ok());
}

TEST_F(PrepareDataSetTest, TwoRunsInOneFolderAreRefused) {
  ASSERT_TRUE(files_.MakeDirectory("/out").ok());
  {
    const auto other = files_.Hold("/out", "command that makes a data set");
    ASSERT_TRUE(other.ok());
    const absl::Status refused = Prepare();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()),
                HasSubstr("/out is in use by another command that makes a "
                          "data set"));
    EXPECT_TRUE(files_.List("/out").value().empty());
  }
  EXPECT_TRUE(Prepare().ok());
}

TEST_F(PrepareDataSetTest, MistakesAreNamed) {
  options_.inputs = {"/in/none.txt"};
  EXPECT_TRUE(absl::IsNotFound(Prepare()));
  options_.inputs = {};
  EXPECT_TRUE(absl::IsInvalidArgument(Prepare()));
  options_.inputs = {"/in/a.txt"};
  options_.validation_fraction = 0.6;
  EXPECT_THAT(std::string(Prepare().message()), HasSubstr("--validation must"));
  options_.validation_fraction = 0.05;
  options_.encoding.document_end = "<e>";
  EXPECT_THAT(std::string(Prepare().message()), HasSubstr("--document-end"));
  options_.encoding.document_end = "";
  Write("/in/a.txt", "");
  EXPECT_THAT(std::string(Prepare().message()),
              HasSubstr("0 bytes of text, too few to be split; give files that "
                        "have some"));
}

}  // namespace
}  // namespace skerry::data
