#include "worker/daemon/data_server.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "data/manifest.h"
#include "data/token_shard.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/posix/posix_files.h"
#include "runtime/testing/inline_executor.h"
#include "runtime/testing/manual_loop.h"

namespace skerry::worker {
namespace {

using ::testing::HasSubstr;
using transport::kDataChunkBytes;

std::string HashOf(const std::string& text) {
  return Sha256Hex(std::as_bytes(std::span(text)));
}

class DataServerTest : public testing::Test {
 protected:
  DataServerTest() : root_(testing::TempDir() + "/data_server_test") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~DataServerTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(root_ + "/" + name, std::ios::binary) << text;
  }
  // Writes a set with a tokenizer and one shard; its manifest's SHA-256.
  std::string WriteSet() {
    const std::vector<uint16_t> tokens(100, 7);
    shard_ = *data::EncodeTokenShard(tokens);
    data::Manifest manifest;
    manifest.tokenizer = "tokenizer.json";
    manifest.tokenizer_sha256 = HashOf("words");
    manifest.vocab_size = 300;
    manifest.shards = {
        {"train_0", tokens.size(), HashOf(shard_), data::Split::kTrain}};
    const std::string text = data::SerializeManifest(manifest);
    Write("tokenizer.json", "words");
    Write("train_0", shard_);
    Write("manifest.json", text);
    return HashOf(text);
  }
  DataServer::Found Find(const std::string& sha256) {
    std::optional<DataServer::Found> found;
    server_.Find(root_, sha256,
                 [&](DataServer::Found said) { found = std::move(said); });
    EXPECT_FALSE(found.has_value());
    loop_.RunUntilIdle();
    return *found;
  }
  absl::StatusOr<SharedBytes> Read(const std::string& name, uint64_t bytes,
                                   uint64_t offset) {
    std::optional<absl::StatusOr<SharedBytes>> read;
    server_.Read(root_ + "/" + name, bytes, offset,
                 [&](auto said) { read = std::move(said); });
    loop_.RunUntilIdle();
    return *read;
  }

  const std::string root_;
  std::string shard_;
  runtime::PosixFiles files_;
  runtime::ManualLoop loop_;
  runtime::LoopExecutor reader_{loop_};
  DataServer server_{files_, reader_, loop_};
};

TEST_F(DataServerTest, FindsTheFilesOfASetAndSaysWhatIsWrong) {
  const std::string sha256 = WriteSet();
  const auto found = Find(sha256);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ((*found)[0].name, "manifest.json");
  EXPECT_EQ((*found)[1].number, kTokenizerNumber);
  EXPECT_EQ((*found)[1].bytes, 5u);
  EXPECT_EQ((*found)[2].number, kFirstShardNumber);
  EXPECT_EQ((*found)[2].bytes, shard_.size());
  EXPECT_THAT(std::string(Find(std::string(64, 'a')).status().message()),
              HasSubstr("has the SHA-256"));
  Write("train_0", shard_ + "x");
  EXPECT_THAT(std::string(Find(sha256).status().message()),
              HasSubstr("train_0 has"));
  std::filesystem::remove(root_ + "/train_0");
  EXPECT_TRUE(absl::IsNotFound(Find(sha256).status()));
  Write("train_0", shard_);
  std::filesystem::remove(root_ + "/tokenizer.json");
  EXPECT_TRUE(absl::IsNotFound(Find(sha256).status()));
  std::filesystem::remove(root_ + "/manifest.json");
  EXPECT_TRUE(absl::IsNotFound(Find(sha256).status()));
}

TEST_F(DataServerTest, ReadsChunkByChunkToTheEnd) {
  const std::string text(kDataChunkBytes + 10, 'x');
  Write("big", text);
  EXPECT_EQ(Read("big", text.size(), 0)->size(), kDataChunkBytes);
  EXPECT_EQ(Read("big", text.size(), kDataChunkBytes)->size(), 10u);
  EXPECT_EQ(Read("big", text.size(), text.size())->size(), 0u);
  EXPECT_TRUE(
      absl::IsOutOfRange(Read("big", text.size(), text.size() + 1).status()));
  EXPECT_TRUE(absl::IsOutOfRange(Read("big", 5, ~uint64_t{0}).status()));
}

TEST_F(DataServerTest, AFileThatHasChangedItsLengthIsNotGiven) {
  Write("file", "0123456789");
  EXPECT_TRUE(Read("file", 10, 0).ok());
  EXPECT_TRUE(absl::IsDataLoss(Read("file", 9, 0).status()));
  EXPECT_TRUE(absl::IsDataLoss(Read("file", 11, 0).status()));
  std::filesystem::remove(root_ + "/file");
  EXPECT_TRUE(absl::IsNotFound(Read("file", 10, 0).status()));
}

TEST_F(DataServerTest, NoMoreChunksAreInMemoryThanMayBe) {
  Write("file", "0123456789");
  std::vector<SharedBytes> held;
  for (int i = 0; i < DataServer::kChunksMax; ++i) {
    held.push_back(*Read("file", 10, 0));
  }
  EXPECT_TRUE(absl::IsUnavailable(Read("file", 10, 0).status()));
  held.pop_back();
  EXPECT_TRUE(Read("file", 10, 0).ok());
}

}  // namespace
}  // namespace skerry::worker
