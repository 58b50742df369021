#include "cli/commands/data_import.h"

#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "data/manifest.h"
#include "data/token_shard.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::cli {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <typename T>
void Put(std::string& file, T value) {
  file.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Tokens [begin, end) of the stream 0, 1, 2, ... in each format.
std::string LlmcShard(int begin, int end) {
  std::vector<uint16_t> tokens(static_cast<size_t>(end - begin));
  std::iota(tokens.begin(), tokens.end(), static_cast<uint16_t>(begin));
  return data::EncodeTokenShard(tokens).value();
}

std::string NumpyArray(int begin, int end) {
  std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (" +
                       std::to_string(end - begin) + ",), }\n";
  std::string file = "\x93NUMPY\x01";
  file += '\0';
  Put(file, static_cast<uint16_t>(header.size()));
  file += header;
  for (int32_t token = begin; token < end; ++token) Put(file, token);
  return file;
}

std::string MegatronIndexOf(int tokens) {
  std::string file("MMIDIDX\x00\x00", 9);
  Put(file, uint64_t{1});
  Put(file, uint8_t{8});
  Put(file, uint64_t{1});
  Put(file, uint64_t{2});
  Put(file, int32_t{tokens});
  Put(file, int64_t{0});
  Put(file, int64_t{0});
  Put(file, int64_t{1});
  return file;
}

std::string Words(int begin, int end) {
  std::string file;
  for (int token = begin; token < end; ++token) {
    Put(file, static_cast<uint16_t>(token));
  }
  return file;
}

class DataImportTest : public ::testing::Test {
 protected:
  DataImportTest() {
    EXPECT_TRUE(files_.MakeDirectory("/in").ok());
    Write("/in/a.bin", LlmcShard(0, 40));
    Write("/in/b.npy", NumpyArray(40, 70));
    Write("/in/c.idx", MegatronIndexOf(30));
    Write("/in/c.bin", Words(70, 100));
  }
  void Write(const std::string& path, const std::string& content) {
    ASSERT_TRUE(files_.WriteDurably(path, Bytes(content)).ok());
  }
  data::Manifest ReadManifest() {
    const auto bytes = files_.Read("/out/manifest.json").value();
    return data::ParseManifest(
               {reinterpret_cast<const char*>(bytes.data()), bytes.size()})
        .value();
  }
  std::vector<int32_t> TokensOf(data::Split split) {
    std::vector<int32_t> tokens;
    for (const data::ShardEntry& entry : ReadManifest().shards) {
      if (entry.split != split) continue;
      const auto bytes = files_.Read("/out/" + entry.file).value();
      const auto shard = data::TokenShard::Parse(bytes).value();
      const size_t before = tokens.size();
      tokens.resize(before + shard.size());
      shard.Read(0, std::span(tokens).subspan(before));
    }
    return tokens;
  }
  static std::vector<int32_t> Range(int begin, int end) {
    std::vector<int32_t> range(static_cast<size_t>(end - begin));
    std::iota(range.begin(), range.end(), begin);
    return range;
  }
  absl::Status Import() { return DataImport(options_, files_, out_); }
  std::string Refusal() {
    const absl::Status status = Import();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  runtime::MemoryFiles files_;
  DataImportOptions options_{.inputs = {"/in/a.bin", "/in/b.npy", "/in/c.idx"},
                             .validation_fraction = 0.15,
                             .vocab_size = 100,
                             .output_directory = "/out",
                             .shard_tokens_max = 32};
  std::ostringstream out_;
};

TEST_F(DataImportTest, ThreeFormatsMakeOneStream) {
  ASSERT_TRUE(Import().ok());
  EXPECT_EQ(TokensOf(data::Split::kTrain), Range(0, 85));
  EXPECT_EQ(TokensOf(data::Split::kValidation), Range(85, 100));
  const data::Manifest manifest = ReadManifest();
  EXPECT_EQ(manifest.shards.size(), 4u);
  EXPECT_EQ(manifest.tokenizer, "unknown");
  EXPECT_EQ(manifest.vocab_size, 100);
  EXPECT_THAT(out_.str(), HasSubstr("85 training and 15 validation tokens"));
}

TEST_F(DataImportTest, ValidationMayHaveFilesOfItsOwn) {
  options_.inputs = {"/in/a.bin", "/in/b.npy"};
  options_.validation_inputs = {"/in/c.idx"};
  ASSERT_TRUE(Import().ok());
  EXPECT_EQ(TokensOf(data::Split::kTrain), Range(0, 70));
  EXPECT_EQ(TokensOf(data::Split::kValidation), Range(70, 100));
}

TEST_F(DataImportTest, ATokenizerGivesVocabularyAndItsFile) {
  std::ifstream file("data/tokenizer/testdata/gpt2_like.json");
  std::ostringstream json;
  json << file.rdbuf();
  Write("/in/tokenizer.json", json.str());
  options_.tokenizer = "/in/tokenizer.json";
  options_.vocab_size.reset();
  ASSERT_TRUE(Import().ok());
  EXPECT_EQ(ReadManifest().vocab_size, 481);
  EXPECT_EQ(ReadManifest().document_end, 0);
  EXPECT_EQ(ReadManifest().tokenizer, "tokenizer.json");
  EXPECT_TRUE(files_.Read("/out/tokenizer.json").ok());
}

// What made the tokens need not be run.
TEST_F(DataImportTest, AModelOfSentencePieceGivesVocabularyAndItsFile) {
  std::ifstream file("data/sentencepiece/testdata/llama_like.model",
                     std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  Write("/in/its.model", bytes.str());
  options_.tokenizer = "/in/its.model";
  options_.vocab_size.reset();
  ASSERT_TRUE(Import().ok());
  EXPECT_EQ(ReadManifest().vocab_size, 620);
  EXPECT_EQ(ReadManifest().document_end, 2);
  EXPECT_EQ(ReadManifest().tokenizer, "tokenizer.model");
  EXPECT_TRUE(files_.Read("/out/tokenizer.model").ok());
}

TEST_F(DataImportTest, RepeatingIsFineAnotherDataSetIsNot) {
  ASSERT_TRUE(Import().ok());
  EXPECT_TRUE(Import().ok());
  options_.inputs = {"/in/b.npy"};
  EXPECT_TRUE(absl::IsAlreadyExists(Import()));
  EXPECT_EQ(TokensOf(data::Split::kTrain), Range(0, 85));
}

TEST_F(DataImportTest, FailureAtAnyWriteLeavesNoManifest) {
  // Shards that are there already are not written again.
  for (uint64_t changes = 0; changes < 3; ++changes) {
    files_.FailChangesAfter(changes, absl::ResourceExhaustedError("full"));
    EXPECT_TRUE(absl::IsResourceExhausted(Import())) << changes;
    files_.FailChangesAfter(0, absl::OkStatus());
    EXPECT_TRUE(absl::IsNotFound(files_.Read("/out/manifest.json").status()));
  }
  EXPECT_TRUE(Import().ok());
  EXPECT_EQ(TokensOf(data::Split::kTrain), Range(0, 85));
}

TEST_F(DataImportTest, FilesThatItDidNotMakeAreNeverReplaced) {
  ASSERT_TRUE(files_.MakeDirectory("/out").ok());
  Write("/out/train_000001.bin", "somebody's");
  const absl::Status refused = Import();
  EXPECT_TRUE(absl::IsAlreadyExists(refused));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("/out/train_000001.bin is there and is not of this "
                        "data set; move it away"));
  ASSERT_TRUE(files_.Remove("/out/train_000001.bin").ok());
  EXPECT_TRUE(Import().ok());
}

TEST_F(DataImportTest, MistakesAreNamedWithTheirFile) {
  options_.vocab_size = 60;
  EXPECT_THAT(Refusal(), HasSubstr("/in/b.npy: token 20 is 60"));
  options_.vocab_size.reset();
  EXPECT_THAT(Refusal(), HasSubstr("--vocab-size"));
  options_.vocab_size = 0;
  EXPECT_THAT(Refusal(), HasSubstr("--vocab-size must be"));
  options_.vocab_size = 100;
  options_.inputs = {"/in/c.bin"};
  EXPECT_THAT(Refusal(), HasSubstr("/in/c.bin: token shard is 60 bytes"));
  Write("/in/c.bin", Words(70, 99));
  options_.inputs = {"/in/c.idx"};
  EXPECT_THAT(Refusal(), HasSubstr("/in/c.idx: the index asks for 60 bytes"));
  options_.inputs = {"/in/none.npy"};
  EXPECT_TRUE(absl::IsNotFound(Import()));
  options_.inputs = {};
  EXPECT_THAT(Refusal(), HasSubstr("at least one"));
}

}  // namespace
}  // namespace skerry::cli
