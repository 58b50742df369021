#include "checkpoint/data_tokenizer.h"

#include <span>
#include <string>

#include "base/sha256.h"
#include "data/byte_tokenizer.h"
#include "data/byte_tokenizer_json.h"
#include "data/manifest.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::checkpoint {
namespace {

class DataTokenizerTest : public testing::Test {
 protected:
  DataTokenizerTest() {
    EXPECT_TRUE(files_.MakeDirectory("data").ok());
    manifest_.vocab_size = 256;
    manifest_.shards = {{.file = "train_000001.bin",
                         .tokens = 1,
                         .sha256 = std::string(64, '0'),
                         .split = data::Split::kTrain}};
  }

  void Write(const std::string& name, const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    ASSERT_TRUE(files_.WriteDurably("data/" + name, bytes).ok());
  }
  // What a job finds whose submitter saw this manifest.
  std::string Find() {
    const std::string text = data::SerializeManifest(manifest_);
    Write(std::string(data::kManifestFile), text);
    return DataTokenizer("data", Sha256Hex(std::as_bytes(std::span(text))),
                         files_);
  }

  runtime::MemoryFiles files_;
  data::Manifest manifest_;
};

TEST_F(DataTokenizerTest, BytesHaveTheirOwn) {
  manifest_.tokenizer = data::kByteTokenizerName;
  EXPECT_EQ(Find(), data::ByteTokenizerJson());
}

TEST_F(DataTokenizerTest, AFileBesideTheManifestIsTakenWhenItIsTheOneMeant) {
  const std::string text = "{\"model\": {}}";
  manifest_.tokenizer = "tokenizer.json";
  manifest_.tokenizer_sha256 = Sha256Hex(std::as_bytes(std::span(text)));
  EXPECT_EQ(Find(), "");
  Write("tokenizer.json", text);
  EXPECT_EQ(Find(), text);
  Write("tokenizer.json", text + " ");
  EXPECT_EQ(Find(), "");
}

TEST_F(DataTokenizerTest, OtherDataThanTheJobsHaveNone) {
  manifest_.tokenizer = data::kByteTokenizerName;
  ASSERT_NE(Find(), "");
  EXPECT_EQ(DataTokenizer("data", std::string(64, '0'), files_), "");
  EXPECT_EQ(DataTokenizer("elsewhere", std::string(64, '0'), files_), "");
}

}  // namespace
}  // namespace skerry::checkpoint
