#include "checkpoint/checkpoint_store.h"

#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/directory_blob_store.h"
#include "runtime/testing/memory_files.h"

namespace skerry::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kManifestPath[] = "/store/checkpoint-5/skerry-checkpoint.json";

std::vector<std::byte> Bytes(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

Manifest About(uint64_t sequence, const std::string& job = "bible") {
  return {.job = job,
          .job_id = 1,
          .sequence = sequence,
          .samples = sequence * 100,
          .files = {}};
}

class CheckpointStoreTest : public testing::Test {
 protected:
  absl::Status Write(uint64_t sequence) {
    absl::StatusOr<CheckpointWriter> writer = store_.Begin(About(sequence));
    if (!writer.ok()) return writer.status();
    for (const char* file : {"model.safetensors", "config.json"}) {
      const absl::Status added = writer->Add(file, Bytes(file));
      if (!added.ok()) return added;
    }
    return writer->Seal();
  }
  // Names of those that count.
  std::vector<std::string> Finished() {
    const auto all = store_.List();
    EXPECT_TRUE(all.ok()) << all.status();
    std::vector<std::string> names;
    for (const Listed& one : *all) {
      if (one.status.ok()) names.push_back(one.name);
    }
    return names;
  }

  runtime::MemoryFiles files_;
  runtime::DirectoryBlobStore blobs_{"/store", files_};
  CheckpointStore store_{blobs_};
};

TEST_F(CheckpointStoreTest, AWrittenCheckpointIsListedAndVerifies) {
  EXPECT_THAT(Finished(), IsEmpty());
  ASSERT_TRUE(Write(12).ok());
  ASSERT_TRUE(Write(5).ok());
  EXPECT_THAT(Finished(), ElementsAre("checkpoint-5", "checkpoint-12"));
  EXPECT_TRUE(store_.Verify("checkpoint-5").ok());
  const auto manifest = store_.Find("checkpoint-12");
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(manifest->samples, 1200u);
  EXPECT_EQ(*store_.Read("checkpoint-12", manifest->files[1]),
            Bytes("config.json"));
  EXPECT_TRUE(absl::IsAlreadyExists(Write(12)));
  EXPECT_TRUE(absl::IsNotFound(store_.Verify("checkpoint-13")));
  EXPECT_TRUE(absl::IsNotFound(store_.Verify("../store/checkpoint-12")));
}

TEST_F(CheckpointStoreTest, AFolderIsLookedAtBeforeAnythingIsSaved) {
  EXPECT_TRUE(store_.CheckUsable(About(0), "w0").ok());
  EXPECT_THAT(*blobs_.List(""), IsEmpty());
  ASSERT_TRUE(Write(5).ok());
  EXPECT_TRUE(store_.CheckUsable(About(0), "w0").ok());
  const absl::Status other = store_.CheckUsable(About(0, "psalms"), "w0");
  EXPECT_TRUE(absl::IsFailedPrecondition(other));
  EXPECT_EQ(other.message(),
            "the folder has checkpoints of job bible (number 1), not of psalms "
            "(number 1); give each job a folder of its own");
  files_.FailChangesAfter(0,
                          absl::PermissionDeniedError("Read-only file system"));
  EXPECT_EQ(store_.CheckUsable(About(0), "w0").message(),
            "/store/probe-w0: Read-only file system");
}

// Power may fail in any change of the disk: what counts is whole, and a second
// try succeeds over what was left.
TEST_F(CheckpointStoreTest, PowerLostAtAnyMomentLeavesAllOrNothing) {
  ASSERT_TRUE(Write(5).ok());
  for (const bool keeps_new : {false, true}) {
    for (int before = 0; before < 4; ++before) {
      runtime::MemoryFiles files;
      runtime::DirectoryBlobStore blobs("/store", files);
      CheckpointStore store(blobs);
      auto writer = store.Begin(About(7));
      ASSERT_TRUE(writer.ok());
      absl::Status status;
      const std::vector<std::byte> bytes = Bytes("content");
      for (int step = 0; step < 3; ++step) {
        if (step == before) files.LosePowerInNextChange(keeps_new);
        status = step < 2 ? writer->Add(std::string(1, 'a' + step), bytes)
                          : writer->Seal();
        if (!status.ok()) break;
      }
      EXPECT_EQ(status.ok(), before == 3);
      files.PowerOn();
      const auto all = store.List();
      ASSERT_TRUE(all.ok()) << all.status();
      for (const Listed& one : *all) {
        EXPECT_TRUE(!one.status.ok() || store.Verify(one.name).ok());
        EXPECT_EQ(one.status.ok(), before == 3 || (before == 2 && keeps_new));
      }
      auto again = store.Begin(About(7));
      if (absl::IsAlreadyExists(again.status())) continue;
      ASSERT_TRUE(again.ok()) << again.status();
      ASSERT_TRUE(again->Add("c", bytes).ok());
      ASSERT_TRUE(again->Seal().ok());
      EXPECT_TRUE(store.Verify("checkpoint-7").ok());
      EXPECT_THAT(
          *blobs.List(""),
          ElementsAre("checkpoint-7/c", "checkpoint-7/skerry-checkpoint.json"));
    }
  }
}

TEST_F(CheckpointStoreTest, AFullDiskLeavesNoCheckpointAndKeepsTheOld) {
  ASSERT_TRUE(Write(5).ok());
  files_.LimitBytes(files_.stored_bytes() + 20);
  EXPECT_TRUE(absl::IsResourceExhausted(Write(6)));
  EXPECT_THAT(Finished(), ElementsAre("checkpoint-5"));
  EXPECT_TRUE(store_.Verify("checkpoint-5").ok());
}

TEST_F(CheckpointStoreTest, AMissingManifestMeansUnfinished) {
  ASSERT_TRUE(Write(5).ok());
  ASSERT_TRUE(files_.Remove(kManifestPath).ok());
  EXPECT_THAT(Finished(), IsEmpty());
  const absl::Status status = store_.Verify("checkpoint-5");
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("is not finished"));
  EXPECT_TRUE(Write(5).ok());
}

TEST_F(CheckpointStoreTest, EveryFlippedBitIsFound) {
  ASSERT_TRUE(Write(5).ok());
  const auto keys = blobs_.List("");
  ASSERT_TRUE(keys.ok());
  ASSERT_EQ(keys->size(), 3u);
  for (const std::string& key : *keys) {
    const size_t bits = 8 * blobs_.Get(key)->size();
    for (size_t bit = 0; bit < bits; ++bit) {
      ASSERT_TRUE(files_.FlipBit("/store/" + key, bit).ok());
      const absl::Status status = store_.Verify("checkpoint-5");
      if (status.ok()) {
        // A bit of white space changes no content.
        EXPECT_THAT(key, HasSubstr("skerry-checkpoint.json"));
      } else {
        EXPECT_TRUE(absl::IsDataLoss(status)) << status;
      }
      ASSERT_TRUE(files_.FlipBit("/store/" + key, bit).ok());
    }
  }
  EXPECT_TRUE(store_.Verify("checkpoint-5").ok());
}

TEST_F(CheckpointStoreTest, LargeFilesStreamInPieces) {
  auto writer = store_.Begin(About(5));
  ASSERT_TRUE(writer.ok());
  std::vector<std::byte> large((size_t{3} << 20) + 5);
  for (size_t i = 0; i < large.size(); ++i) large[i] = std::byte(i % 251);
  ASSERT_TRUE(writer->Add("inner.safetensors", large).ok());
  ASSERT_TRUE(writer->Seal().ok());
  const auto manifest = store_.Find("checkpoint-5");
  ASSERT_TRUE(manifest.ok());
  const CheckpointFile* inner = FindInnerState(*manifest);
  ASSERT_NE(inner, nullptr);
  std::vector<std::byte> read;
  size_t most = 0;
  const auto take = [&](runtime::ByteSpan piece) {
    most = std::max(most, piece.size());
    read.insert(read.end(), piece.begin(), piece.end());
    return absl::OkStatus();
  };
  EXPECT_TRUE(store_.Stream("checkpoint-5", *inner, take).ok());
  EXPECT_EQ(read, large);
  EXPECT_LE(most, size_t{1} << 20);
  // Whoever reads may have enough.
  const absl::Status full = absl::ResourceExhaustedError("disk full");
  EXPECT_EQ(store_.Stream("checkpoint-5", *inner,
                          [&](runtime::ByteSpan) { return full; }),
            full);
  ASSERT_TRUE(Write(6).ok());
  EXPECT_EQ(FindInnerState(*store_.Find("checkpoint-6")), nullptr);
}

TEST_F(CheckpointStoreTest, AMissingOrShortFileIsNamed) {
  ASSERT_TRUE(Write(5).ok());
  ASSERT_TRUE(blobs_.Put("checkpoint-5/config.json", Bytes("cut")).ok());
  EXPECT_THAT(std::string(store_.Verify("checkpoint-5").message()),
              HasSubstr("checkpoint-5/config.json has 3 bytes, not 11"));
  ASSERT_TRUE(
      blobs_.Put("checkpoint-5/config.json", Bytes("config.json and more"))
          .ok());
  EXPECT_THAT(std::string(store_.Verify("checkpoint-5").message()),
              HasSubstr("checkpoint-5/config.json has more than 11 bytes"));
  ASSERT_TRUE(blobs_.Delete("checkpoint-5/model.safetensors").ok());
  EXPECT_THAT(std::string(store_.Verify("checkpoint-5").message()),
              HasSubstr("checkpoint-5/model.safetensors is missing"));
}

TEST_F(CheckpointStoreTest, AManifestUnderAnotherNameIsNotBelieved) {
  ASSERT_TRUE(Write(5).ok());
  ASSERT_TRUE(blobs_
                  .Put("checkpoint-6/skerry-checkpoint.json",
                       *files_.Read(kManifestPath))
                  .ok());
  EXPECT_THAT(Finished(), ElementsAre("checkpoint-5"));
}

TEST_F(CheckpointStoreTest, OnlyTheNewestAreKept) {
  for (uint64_t sequence : {1, 2, 3, 9, 10}) {
    ASSERT_TRUE(Write(sequence).ok());
  }
  // An interrupted one in between, one that may be under way, and a stranger.
  ASSERT_TRUE(blobs_.Put("checkpoint-4/config.json", Bytes("x")).ok());
  ASSERT_TRUE(blobs_.Put("checkpoint-11/config.json", Bytes("x")).ok());
  ASSERT_TRUE(blobs_.Put("notes/checkpoint-1", Bytes("x")).ok());
  const auto removed = store_.KeepNewest(2);
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_THAT(*removed, ElementsAre("checkpoint-4", "checkpoint-3",
                                    "checkpoint-2", "checkpoint-1"));
  EXPECT_THAT(Finished(), ElementsAre("checkpoint-9", "checkpoint-10"));
  EXPECT_TRUE(blobs_.Get("notes/checkpoint-1").ok());
  EXPECT_TRUE(blobs_.Get("checkpoint-11/config.json").ok());
  EXPECT_THAT(*store_.KeepNewest(0), ElementsAre("checkpoint-9"));
  EXPECT_THAT(Finished(), ElementsAre("checkpoint-10"));
}

TEST_F(CheckpointStoreTest, WhatIsPinnedStays) {
  for (const uint64_t sequence : {1, 2, 3, 4}) {
    ASSERT_TRUE(Write(sequence).ok());
  }
  ASSERT_TRUE(blobs_.Put("checkpoint-2/pinned", Bytes("")).ok());
  EXPECT_THAT(*store_.KeepNewest(1, {"checkpoint-3"}),
              ElementsAre("checkpoint-1"));
  EXPECT_THAT(Finished(),
              ElementsAre("checkpoint-2", "checkpoint-3", "checkpoint-4"));
  EXPECT_TRUE(store_.Verify("checkpoint-2").ok());
}

TEST_F(CheckpointStoreTest, PowerLostWhileRemovingLeavesNoHalfCheckpoint) {
  for (int before = 0; before < 3; ++before) {
    runtime::MemoryFiles files;
    runtime::DirectoryBlobStore blobs("/store", files);
    CheckpointStore store(blobs);
    for (uint64_t sequence : {1, 2}) {
      auto writer = store.Begin(About(sequence));
      ASSERT_TRUE(writer->Add("a", Bytes("x")).ok());
      ASSERT_TRUE(writer->Add("b", Bytes("y")).ok());
      ASSERT_TRUE(writer->Seal().ok());
    }
    files.FailChangesAfter(before, absl::InternalError("power"));
    EXPECT_FALSE(store.KeepNewest(1).ok());
    files.FailChangesAfter(0, absl::OkStatus());
    const auto all = store.List();
    ASSERT_TRUE(all.ok());
    for (const Listed& one : *all) {
      EXPECT_TRUE(!one.status.ok() || store.Verify(one.name).ok()) << before;
    }
    ASSERT_TRUE(store.KeepNewest(1).ok());
    EXPECT_EQ(blobs.List("")->size(), 3u);
  }
}

TEST_F(CheckpointStoreTest, AFolderIsOfOneJob) {
  ASSERT_TRUE(Write(5).ok());
  const auto other = store_.Begin(About(6, "poems"));
  EXPECT_TRUE(absl::IsFailedPrecondition(other.status()));
  EXPECT_THAT(std::string(other.status().message()), HasSubstr("of job bible"));
}

}  // namespace
}  // namespace skerry::checkpoint
