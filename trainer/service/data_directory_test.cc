#include "trainer/service/data_directory.h"

#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "data/prepare/testing/prepare.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/posix/posix_files.h"

namespace skerry::trainer {
namespace {

using ::testing::HasSubstr;

class DataDirectoryTest : public ::testing::Test {
 protected:
  DataDirectoryTest() {
    std::string text;
    for (int i = 0; i < 300; ++i) absl::StrAppend(&text, "line ", i, "\n");
    EXPECT_TRUE(files_.MakeDirectory(folder_).ok());
    Write("text.txt", text);
    std::ostringstream err;
    EXPECT_TRUE(data::testing::Prepare({.inputs = {folder_ + "/text.txt"},
                                        .output_directory = folder_,
                                        .shard_tokens_max = 1000},
                                       {}, files_, err)
                    .ok());
  }
  void Write(const std::string& name, const std::string& content) {
    EXPECT_TRUE(files_
                    .WriteDurably(folder_ + "/" + name,
                                  std::as_bytes(std::span(content)))
                    .ok());
  }
  std::string Read(const std::string& name) {
    const auto bytes = files_.Read(folder_ + "/" + name).value();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  // A folder of its own for every test.
  const std::string folder_ = absl::StrCat(
      ::testing::TempDir(), "/",
      ::testing::UnitTest::GetInstance()->current_test_info()->name());
  runtime::PosixFiles files_;
};

TEST_F(DataDirectoryTest, OpensWhatWasPrepared) {
  const std::string manifest = Read("manifest.json");
  const auto opened =
      OpenDataDirectory(folder_, Sha256Hex(std::as_bytes(std::span(manifest))),
                        ShardCheck::kRead);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->data.tokenizer, "bytes");
  EXPECT_EQ(opened->data.vocab_size, 256);
  EXPECT_EQ(opened->data.training.size(), 3u);
  EXPECT_EQ(opened->data.validation.size(), 1u);
  EXPECT_EQ(opened->files.size(), 4u);
}

TEST_F(DataDirectoryTest, AnotherManifestThanTheJobsIsRefused) {
  const auto opened =
      OpenDataDirectory(folder_, std::string(64, '0'), ShardCheck::kRead);
  EXPECT_TRUE(absl::IsDataLoss(opened.status()));
  EXPECT_THAT(std::string(opened.status().message()),
              HasSubstr("manifest.json"));
}

TEST_F(DataDirectoryTest, ShardThatDiffersFromTheManifestIsRefused) {
  Write("train_000001.bin", Read("validation_000000.bin"));
  const auto opened = OpenDataDirectory(folder_, "", ShardCheck::kHeader);
  EXPECT_TRUE(absl::IsDataLoss(opened.status()));
  EXPECT_THAT(std::string(opened.status().message()),
              HasSubstr("train_000001.bin"));
  Write("train_000001.bin", "short");
  EXPECT_TRUE(absl::IsInvalidArgument(
      OpenDataDirectory(folder_, "", ShardCheck::kHeader).status()));
}

// What the job generates with is what its data were made with.
class TokenizedDirectoryTest : public DataDirectoryTest {
 protected:
  TokenizedDirectoryTest() {
    EXPECT_TRUE(files_.MakeDirectory(made_).ok());
    std::ostringstream err;
    EXPECT_TRUE(data::testing::Prepare(
                    {.inputs = {folder_ + "/text.txt"},
                     .encoding = {.tokenizer = "data/tokenizer/testdata/"
                                               "llama3_like.json"},
                     .output_directory = made_},
                    {}, files_, err)
                    .ok());
  }
  absl::StatusOr<DataDirectory> Open() {
    return OpenDataDirectory(made_, "", ShardCheck::kRead);
  }
  const std::string made_ = folder_ + "/tokenized";
};

TEST_F(TokenizedDirectoryTest, OpensItsTokenizer) {
  const auto opened = Open();
  ASSERT_TRUE(opened.ok()) << opened.status();
  ASSERT_NE(opened->data.codec, nullptr);
  EXPECT_EQ(opened->data.codec->vocab_size(), opened->data.vocab_size);
  std::vector<int32_t> tokens(9);
  opened->data.training[0].Read(0, tokens);
  const std::string text = opened->data.codec->Decode(tokens).value();
  EXPECT_EQ(text, std::string("line 0\nline 1\n").substr(0, text.size()));
}

TEST_F(TokenizedDirectoryTest, AnotherTokenizerIsRefused) {
  std::string json = Read("tokenized/tokenizer.json");
  Write("tokenized/tokenizer.json", json + " ");
  EXPECT_TRUE(absl::IsDataLoss(Open().status()));
  EXPECT_THAT(std::string(Open().status().message()),
              HasSubstr("tokenizer.json does not have the SHA-256"));
  ASSERT_TRUE(files_.Remove(made_ + "/tokenizer.json").ok());
  EXPECT_TRUE(absl::IsNotFound(Open().status()));
}

// A job trains where nothing can encode; text is another matter.
TEST_F(DataDirectoryTest, AModelOfSentencePieceIsOpenedWithoutItsProgram) {
  constexpr char kProgram[] = "data/sentencepiece/main/skerry-sentencepiece";
  const std::string made = folder_ + "/pieces";
  ASSERT_TRUE(files_.MakeDirectory(made).ok());
  std::ostringstream err;
  ASSERT_TRUE(data::testing::Prepare(
                  {.inputs = {folder_ + "/text.txt"},
                   .encoding = {.tokenizer = "data/sentencepiece/testdata/"
                                             "llama_like.model"},
                   .output_directory = made},
                  {.sentencepiece_program = kProgram}, files_, err)
                  .ok());
  const auto without = OpenDataDirectory(made, "", ShardCheck::kRead, "/none");
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(without->data.vocab_size, 620);
  EXPECT_THAT(std::string(without->data.codec->Prompt("a").status().message()),
              HasSubstr("cannot run /none"));
  const auto opened = OpenDataDirectory(made, "", ShardCheck::kRead, kProgram);
  ASSERT_TRUE(opened.ok()) << opened.status();
  std::vector<int32_t> tokens(9);
  opened->data.training[0].Read(0, tokens);
  const std::string text = opened->data.codec->Decode(tokens).value();
  EXPECT_EQ(text, std::string("line 0\nline 1\n").substr(0, text.size()));
}

TEST_F(DataDirectoryTest, MissingFilesAreNamed) {
  ASSERT_TRUE(files_.Remove(folder_ + "/train_000000.bin").ok());
  const auto opened = OpenDataDirectory(folder_, "", ShardCheck::kHeader);
  EXPECT_TRUE(absl::IsNotFound(opened.status()));
  EXPECT_THAT(std::string(opened.status().message()),
              HasSubstr("train_000000.bin"));
  EXPECT_TRUE(absl::IsNotFound(
      OpenDataDirectory(folder_ + "/no", "", ShardCheck::kHeader).status()));
}

TEST_F(DataDirectoryTest, AFlippedBitIsFoundWhenShardsAreRead) {
  std::string shard = Read("train_000001.bin");
  shard[shard.size() - 2] ^= 1;
  Write("train_000001.bin", shard);
  const auto opened = OpenDataDirectory(folder_, "", ShardCheck::kRead);
  EXPECT_TRUE(absl::IsDataLoss(opened.status())) << opened.status();
  EXPECT_THAT(std::string(opened.status().message()),
              HasSubstr("train_000001.bin does not have the SHA-256"));
  EXPECT_TRUE(OpenDataDirectory(folder_, "", ShardCheck::kHeader).ok());
}

}  // namespace
}  // namespace skerry::trainer
