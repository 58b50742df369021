#include "cli/commands/train_tokenizer.h"

#include <span>
#include <sstream>

#include "data/tokenizer/tokenizer_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::cli {
namespace {

using ::testing::HasSubstr;

class TrainTokenizerTest : public ::testing::Test {
 protected:
  TrainTokenizerTest() {
    EXPECT_TRUE(files_.MakeDirectory("/in").ok());
    Write("/in/a.txt", "the sea and the sand and the sea\n");
    Write("/in/b.jsonl", "{\"text\": \"the sand\"}\n");
  }
  void Write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(files_
                    .WriteDurably(path, std::as_bytes(std::span(text.data(),
                                                                text.size())))
                    .ok());
  }
  absl::StatusOr<data::Tokenizer> Open() {
    const auto bytes = files_.Read("/in/t.json").value();
    return data::ParseTokenizerJson(std::string_view(
        reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  absl::Status Train() { return TrainTokenizer(arguments_, files_, out_); }

  runtime::MemoryFiles files_;
  TrainTokenizerArguments arguments_{.inputs = {"/in/a.txt", "/in/b.jsonl"},
                                     .out = "/in/t.json",
                                     .vocab_size = 300,
                                     .specials = {}};
  std::ostringstream out_;
};

TEST_F(TrainTokenizerTest, WhatIsFrequentIsOneToken) {
  ASSERT_TRUE(Train().ok());
  const auto tokenizer = Open();
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ(data::TextEncoder(*tokenizer).Encode(" the").size(), 1u);
  EXPECT_EQ(tokenizer->FindAdded("<|endoftext|>"), 0);
  EXPECT_THAT(out_.str(), HasSubstr("/in/t.json: "));
}

TEST_F(TrainTokenizerTest, RepeatingIsFineAnotherFileIsNotOverwritten) {
  ASSERT_TRUE(Train().ok());
  EXPECT_TRUE(Train().ok());
  arguments_.kind = "llama3";
  EXPECT_TRUE(absl::IsAlreadyExists(Train()));
}

TEST_F(TrainTokenizerTest, MistakesAreNamed) {
  arguments_.kind = "bert";
  EXPECT_THAT(std::string(Train().message()), HasSubstr("--kind"));
  arguments_.kind = "gpt2";
  arguments_.vocab_size = 200;
  EXPECT_THAT(std::string(Train().message()), HasSubstr("257"));
  arguments_.inputs = {"/in/none"};
  EXPECT_TRUE(absl::IsNotFound(Train()));
  Write("/in/a.txt", "");
  arguments_.inputs = {"/in/a.txt"};
  EXPECT_THAT(std::string(Train().message()), HasSubstr("no text"));
}

}  // namespace
}  // namespace skerry::cli
