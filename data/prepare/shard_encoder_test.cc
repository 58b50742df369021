#include "data/prepare/shard_encoder.h"

#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "data/prepare/prepare_data_set.h"
#include "data/prepare/testing/prepare.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/memory_files.h"

namespace skerry::data {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kSeed = 11;

// Lines of words, with what makes cutting a text hard between them.
std::string Prose(uint64_t seed, int words) {
  const std::vector<std::string> all = {"the",
                                        "sea",
                                        "boats",
                                        "\u00e9t\u00e9",
                                        "12",
                                        "!!",
                                        "<|endoftext|>",
                                        "\r\n",
                                        "\n\n",
                                        "\n",
                                        "  ",
                                        "'s",
                                        "x"};
  Random random(seed);
  std::string text;
  for (int i = 0; i < words; ++i) {
    if (random.Below(3) > 0) text += ' ';
    text += all[random.Below(all.size())];
  }
  return text + "\n";
}

// The files of a folder by name.
using Folder = std::map<std::string, std::string>;

// Three inputs to some twenty shards of both splits.
class ShardEncoderTest : public ::testing::TestWithParam<const char*> {
 protected:
  ShardEncoderTest() {
    MakeInputs(files_);
    options_.encoding.tokenizer = GetParam();
  }

  static void Write(runtime::Files& files, const std::string& path,
                    const std::string& text) {
    ASSERT_TRUE(files
                    .WriteDurably(path, std::as_bytes(std::span(text.data(),
                                                                text.size())))
                    .ok());
  }
  static void MakeInputs(runtime::Files& files) {
    ASSERT_TRUE(files.MakeDirectory("/in").ok());
    Write(files, "/in/a.txt", Prose(kSeed, 400));
    std::string lines;
    for (uint64_t i = 0; i < 30; ++i) {
      lines += "{\"text\": \"sea " + std::to_string(i) + "\\n the boats\"}\n";
    }
    Write(files, "/in/b.jsonl", lines);
    Write(files, "/in/c.txt", Prose(kSeed + 1, 300));
    for (const auto& [path, from] :
         {std::pair("/in/tokenizer.json", "tokenizer/testdata/gpt2_like.json"),
          std::pair("/in/tokenizer.model",
                    "sentencepiece/testdata/llama_like.model")}) {
      std::ifstream file(std::string("data/") + from, std::ios::binary);
      std::ostringstream bytes;
      bytes << file.rdbuf();
      Write(files, path, bytes.str());
    }
  }
  absl::Status Prepare(runtime::Files& files) {
    err_.str("");
    return testing::Prepare(
        options_,
        {.threads = threads_,
         .sentencepiece_program =
             "data/sentencepiece/main/skerry-sentencepiece"},
        files, err_);
  }
  static Folder Read(const runtime::Files& files) {
    Folder folder;
    const auto names = files.List("/out");
    EXPECT_TRUE(names.ok()) << names.status();
    for (const std::string& name : names.value()) {
      const auto bytes = files.Read("/out/" + name).value();
      folder[name].assign(reinterpret_cast<const char*>(bytes.data()),
                          bytes.size());
    }
    return folder;
  }
  // What an undisturbed run makes, and the changes of the disk that it takes.
  Folder Undisturbed(uint64_t& changes) {
    runtime::MemoryFiles files;
    MakeInputs(files);
    const uint64_t before = files.changes();
    EXPECT_TRUE(Prepare(files).ok());
    changes = files.changes() - before;
    return Read(files);
  }

  runtime::MemoryFiles files_;
  int threads_ = 2;
  PrepareOptions options_{.inputs = {"/in/a.txt", "/in/b.jsonl", "/in/c.txt"},
                          .output_directory = "/out",
                          .validation_fraction = 0.3,
                          .shard_tokens_max = 137,
                          .unit_bytes = 200};
  std::ostringstream err_;
};

TEST_P(ShardEncoderTest, BytesAreThoseOfAnyNumberOfThreadsAndAnyUnits) {
  uint64_t changes = 0;
  Folder first = Undisturbed(changes);
  EXPECT_GT(changes, 20u);
  // Says where units begin.
  first.erase("prepare.json");
  for (int threads = 1; threads <= 8; ++threads) {
    for (const size_t unit_bytes : {1, 90, 1 << 20}) {
      threads_ = threads;
      options_.unit_bytes = unit_bytes;
      runtime::MemoryFiles files;
      MakeInputs(files);
      ASSERT_TRUE(Prepare(files).ok());
      Folder folder = Read(files);
      folder.erase("prepare.json");
      EXPECT_EQ(folder, first)
          << threads << " threads, units of " << unit_bytes;
    }
  }
}

TEST_P(ShardEncoderTest, ARunCutAtAnyStepIsGoneOnWith) {
  uint64_t all = 0;
  const Folder undisturbed = Undisturbed(all);
  for (const bool keeps_new : {false, true}) {
    for (uint64_t step = 0; step < all; ++step) {
      runtime::MemoryFiles files;
      MakeInputs(files);
      files.FailChangesAfter(step, absl::AbortedError("killed"));
      EXPECT_TRUE(absl::IsAborted(Prepare(files))) << step;
      files.FailChangesAfter(0, absl::OkStatus());
      // And once more, by a loss of power in the next write.
      files.LosePowerInNextChange(keeps_new);
      EXPECT_TRUE(absl::IsDataLoss(Prepare(files))) << step;
      files.PowerOn();
      const uint64_t before = files.changes();
      // The rest with units of another size.
      options_.unit_bytes = 90;
      const absl::Status prepared = Prepare(files);
      options_.unit_bytes = 200;
      ASSERT_TRUE(prepared.ok()) << step << ": " << prepared;
      Folder folder = Read(files);
      folder["prepare.json"] = undisturbed.at("prepare.json");
      ASSERT_EQ(folder, undisturbed) << "cut after " << step << " changes";
      // What was written is not written again: two changes a shard, and some
      // for the folder, the record and the last shard.
      EXPECT_LE(files.changes() - before + step, all + 4) << step;
    }
  }
}

// Training ends and validation begins in one JSON line.
TEST_P(ShardEncoderTest, ATornDocumentIsMadeAndGoneOnWithLikeAnyOther) {
  const auto make_inputs = [](runtime::Files& files) {
    MakeInputs(files);
    std::string text;
    for (int i = 0; i < 300; ++i) text += " the boats \u20ac";
    Write(files, "/in/b.jsonl",
          "{\"text\": \"sea\"}\n{\"text\": \"" + text +
              "\"}\n{\"text\": \"12\"}\n");
  };
  options_.inputs = {"/in/b.jsonl"};
  options_.shard_tokens_max = 600;
  runtime::MemoryFiles undisturbed_files;
  make_inputs(undisturbed_files);
  const uint64_t before = undisturbed_files.changes();
  ASSERT_TRUE(Prepare(undisturbed_files).ok());
  const uint64_t all = undisturbed_files.changes() - before;
  Folder undisturbed = Read(undisturbed_files);
  const PrepareRecord record =
      ParsePrepareRecord(undisturbed.at("prepare.json")).value();
  EXPECT_GT(record.found->validation.text, 1000u);
  EXPECT_EQ(record.found->documents, 4u);
  undisturbed.erase("prepare.json");
  for (uint64_t step = 0; step < all; ++step) {
    runtime::MemoryFiles files;
    make_inputs(files);
    options_.unit_bytes = 1;
    files.FailChangesAfter(step, absl::AbortedError("killed"));
    EXPECT_TRUE(absl::IsAborted(Prepare(files))) << step;
    files.FailChangesAfter(0, absl::OkStatus());
    options_.unit_bytes = 200;
    const absl::Status prepared = Prepare(files);
    ASSERT_TRUE(prepared.ok()) << step << ": " << prepared;
    Folder folder = Read(files);
    folder.erase("prepare.json");
    ASSERT_EQ(folder, undisturbed) << "cut after " << step << " changes";
  }
}

TEST_P(ShardEncoderTest, AResumedRunKeepsTheRecordOfAnUndisturbedOne) {
  uint64_t all = 0;
  const Folder undisturbed = Undisturbed(all);
  files_.FailChangesAfter(all / 2, absl::AbortedError("killed"));
  ASSERT_FALSE(Prepare(files_).ok());
  files_.FailChangesAfter(0, absl::OkStatus());
  ASSERT_TRUE(Prepare(files_).ok());
  EXPECT_THAT(err_.str(), HasSubstr("going on after"));
  EXPECT_EQ(Read(files_), undisturbed);
  // Nothing but the last files is written by a repetition.
  const uint64_t before = files_.changes();
  ASSERT_TRUE(Prepare(files_).ok());
  EXPECT_LE(files_.changes() - before, 3u);
  EXPECT_EQ(Read(files_), undisturbed);
}

TEST_P(ShardEncoderTest, ShardsThatAreLostOrDamagedAreMadeAgain) {
  uint64_t all = 0;
  const Folder undisturbed = Undisturbed(all);
  ASSERT_TRUE(Prepare(files_).ok());
  ASSERT_TRUE(files_.FlipBit("/out/train_000003.bin", 9000).ok());
  ASSERT_TRUE(files_.Remove("/out/validation_000001.bin").ok());
  ASSERT_TRUE(files_.Remove("/out/manifest.json").ok());
  ASSERT_TRUE(Prepare(files_).ok());
  EXPECT_THAT(err_.str(), HasSubstr("going on after 3 finished shards"));
  EXPECT_EQ(Read(files_), undisturbed);
}

TEST_P(ShardEncoderTest, ChangedInputsAndOptionsAreRefusedInOneLine) {
  files_.FailChangesAfter(9, absl::AbortedError("killed"));
  ASSERT_FALSE(Prepare(files_).ok());
  files_.FailChangesAfter(0, absl::OkStatus());
  const Folder before = Read(files_);
  const auto refused = [&] {
    const absl::Status status = Prepare(files_);
    EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
    EXPECT_EQ(Read(files_), before);
    const std::string message(status.message());
    EXPECT_THAT(message, Not(HasSubstr("\n")));
    return message;
  };
  const std::string text = Prose(kSeed, 400);
  std::string other = text;
  other[100] ^= 1;
  Write(files_, "/in/a.txt", other);
  EXPECT_EQ(refused(),
            "/out: /in/a.txt has changed since the data set was begun with "
            "it; go on as it was begun, or choose another directory");
  Write(files_, "/in/a.txt", text);
  const PrepareOptions as_begun = options_;
  options_.inputs.pop_back();
  EXPECT_THAT(refused(), HasSubstr("begun with 3 inputs, not 2"));
  options_ = as_begun;
  options_.shard_tokens_max = 138;
  EXPECT_THAT(refused(), HasSubstr("begun with --shard-tokens 137, not 138"));
  options_ = as_begun;
  options_.validation_fraction = 0.25;
  EXPECT_THAT(refused(), HasSubstr("--validation 0.3, not 0.25"));
  options_ = as_begun;
  options_.encoding.tokenizer = *GetParam() == 0 ? "/in/tokenizer.json" : "";
  EXPECT_THAT(refused(), HasSubstr("begun with another --tokenizer"));
  options_ = as_begun;
  EXPECT_TRUE(Prepare(files_).ok());
}

TEST_P(ShardEncoderTest, AMovedInputIsTheSame) {
  files_.FailChangesAfter(9, absl::AbortedError("killed"));
  ASSERT_FALSE(Prepare(files_).ok());
  files_.FailChangesAfter(0, absl::OkStatus());
  Write(files_, "/in/moved.txt", Prose(kSeed, 400));
  options_.inputs[0] = "/in/moved.txt";
  EXPECT_TRUE(Prepare(files_).ok());
}

TEST_P(ShardEncoderTest, AFullDiskIsGoneOnWithWhenThereIsRoom) {
  uint64_t all = 0;
  const Folder undisturbed = Undisturbed(all);
  files_.LimitBytes(files_.stored_bytes() + 6000);
  const absl::Status full = Prepare(files_);
  EXPECT_TRUE(absl::IsResourceExhausted(full));
  EXPECT_THAT(std::string(full.message()), HasSubstr("no space left"));
  EXPECT_TRUE(absl::IsNotFound(files_.Read("/out/manifest.json").status()));
  files_.LimitBytes(UINT64_MAX);
  ASSERT_TRUE(Prepare(files_).ok());
  EXPECT_EQ(Read(files_), undisturbed);
}

// Inputs without a byte are no documents, wherever they stand.
TEST_P(ShardEncoderTest, EmptyInputsChangeNothing) {
  uint64_t all = 0;
  Folder without = Undisturbed(all);
  for (const char* name : {"/in/0.txt", "/in/1.jsonl", "/in/2.txt"}) {
    Write(files_, name, "");
  }
  options_.inputs = {"/in/0.txt",   "/in/a.txt", "/in/1.jsonl",
                     "/in/b.jsonl", "/in/c.txt", "/in/2.txt"};
  ASSERT_TRUE(Prepare(files_).ok());
  Folder with = Read(files_);
  with.erase("prepare.json");
  without.erase("prepare.json");
  EXPECT_EQ(with, without);
}

TEST_P(ShardEncoderTest, AFolderThatCannotBeWrittenIsNoticedFirst) {
  files_.FailChangesAfter(0, absl::PermissionDeniedError("permission denied"));
  options_.inputs = {"/in/none.txt"};
  EXPECT_TRUE(absl::IsPermissionDenied(Prepare(files_)));
}

TEST_P(ShardEncoderTest, ARecordThatIsNoneOrCannotBeTrueIsRefused) {
  files_.FailChangesAfter(9, absl::AbortedError("killed"));
  ASSERT_FALSE(Prepare(files_).ok());
  files_.FailChangesAfter(0, absl::OkStatus());
  const std::string record = Read(files_).at("prepare.json");
  Write(files_, "/out/prepare.json", record.substr(0, record.size() / 2));
  EXPECT_THAT(std::string(Prepare(files_).message()),
              HasSubstr("/out/prepare.json is no record of format"));
  PrepareRecord parsed = ParsePrepareRecord(record).value();
  ASSERT_GT(parsed.shards.size(), 2u);
  parsed.shards.back().place.input = 3;
  Write(files_, "/out/prepare.json", SerializePrepareRecord(parsed));
  EXPECT_THAT(std::string(Prepare(files_).message()),
              HasSubstr("names a place that no input has"));
  parsed.shards.back().place.input = 0;
  parsed.shards.back().tokens = 1'000'000;
  Write(files_, "/out/prepare.json", SerializePrepareRecord(parsed));
  EXPECT_THAT(std::string(Prepare(files_).message()),
              HasSubstr("counts tokens that the inputs do not have"));
}

INSTANTIATE_TEST_SUITE_P(Encodings, ShardEncoderTest,
                         ::testing::Values("", "/in/tokenizer.json",
                                           "/in/tokenizer.model"),
                         [](const auto& info) {
                           const std::string path = info.param;
                           return path.empty()             ? "bytes"
                                  : path.ends_with("json") ? "tokenizer"
                                                           : "sentencepiece";
                         });

}  // namespace
}  // namespace skerry::data
