#include "worker/core/patient_disk.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

const absl::Duration kInterval = absl::Seconds(5);

StoredFile File(uint64_t sequence) {
  return {PieceKey::Kind::kBase, Sequence(sequence), Attempt(), {{0, 1}}};
}

// Answers when the test says so.
class SlowDisk : public DiskPort {
 public:
  void Store(const StoredFile& file, std::vector<SharedBytes> contents,
             Done<absl::Status> done) override {
    asked.push_back(file);
    sizes.push_back(contents.empty() ? 0 : contents[0].size());
    answers.push_back(std::move(done));
  }
  absl::StatusOr<SharedBytes> Map(const StoredFile&, uint32_t) override {
    return absl::NotFoundError("");
  }
  void Delete(const StoredFile& file) override { deleted.push_back(file); }

  void Answer(Instant now, absl::Status status) {
    Done<absl::Status> done = std::move(answers.front());
    answers.erase(answers.begin());
    std::move(done)(now, std::move(status));
  }

  std::vector<StoredFile> asked;
  std::vector<size_t> sizes;
  std::vector<Done<absl::Status>> answers;
  std::vector<StoredFile> deleted;
};

class PatientDiskTest : public ::testing::Test {
 protected:
  void Store(uint64_t sequence) {
    disk_.Store(File(sequence),
                {SharedBytes(std::make_shared<const std::vector<float>>(
                    sequence, 1.0f))},
                [this, sequence](Instant, absl::Status status) {
                  EXPECT_TRUE(status.ok() || absl::IsAborted(status));
                  (status.ok() ? stored_ : gone_).push_back(sequence);
                });
  }

  Instant now_{absl::Seconds(100)};
  SlowDisk slow_;
  std::vector<std::string> said_;
  std::vector<uint64_t> stored_;
  std::vector<uint64_t> gone_;
  PatientDisk disk_{slow_, kInterval,
                    [this](Instant) { said_.push_back(disk_.error()); }};
};

TEST_F(PatientDiskTest, ADiskThatWorksIsAskedOnce) {
  Store(1);
  slow_.Answer(now_, absl::OkStatus());
  EXPECT_EQ(stored_, std::vector<uint64_t>{1});
  EXPECT_TRUE(said_.empty());
  EXPECT_FALSE(disk_.NextDeadline().has_value());
}

TEST_F(PatientDiskTest, AFullDiskIsAskedAgainUntilItHasRoom) {
  Store(7);
  for (int i = 0; i < 3; ++i) {
    slow_.Answer(now_, absl::ResourceExhaustedError("full"));
    EXPECT_TRUE(stored_.empty());
    EXPECT_EQ(disk_.NextDeadline(), now_ + kInterval);
    disk_.OnTime(now_ + (kInterval - absl::Nanoseconds(1)));
    EXPECT_TRUE(slow_.answers.empty());
    now_ = now_ + kInterval;
    disk_.OnTime(now_);
    ASSERT_EQ(slow_.answers.size(), 1u);
  }
  EXPECT_EQ(said_, std::vector<std::string>{"full"});
  slow_.Answer(now_, absl::OkStatus());
  EXPECT_EQ(stored_, std::vector<uint64_t>{7});
  EXPECT_EQ(said_, (std::vector<std::string>{"full", ""}));
  // The whole file, each time.
  EXPECT_EQ(slow_.asked, std::vector<StoredFile>(4, File(7)));
  EXPECT_EQ(slow_.sizes, std::vector<size_t>(4, 7 * sizeof(float)));
  EXPECT_FALSE(disk_.NextDeadline().has_value());
}

// A small file may fit where a large one does not.
TEST_F(PatientDiskTest, ItIsWellAgainOnceEveryFileIsThere) {
  Store(1);
  Store(2);
  Store(3);
  slow_.Answer(now_, absl::ResourceExhaustedError("full"));
  slow_.Answer(now_, absl::ResourceExhaustedError("full"));
  slow_.Answer(now_, absl::OkStatus());
  EXPECT_EQ(stored_, std::vector<uint64_t>{3});
  EXPECT_EQ(disk_.error(), "full");
  disk_.OnTime(now_ + kInterval);
  slow_.Answer(now_, absl::OkStatus());
  EXPECT_EQ(disk_.error(), "full");
  slow_.Answer(now_, absl::OkStatus());
  EXPECT_EQ(disk_.error(), "");
  EXPECT_EQ(said_.size(), 2u);
}

// The disk does one after the other: what is deleted behind a write of it is
// not there, although the write is answered later.
TEST_F(PatientDiskTest, AFileDeletedWhileItIsStoredIsNotThere) {
  Store(1);
  Store(1);
  slow_.Answer(now_, absl::OkStatus());
  disk_.Delete(File(1));
  slow_.Answer(now_, absl::OkStatus());
  EXPECT_EQ(stored_, std::vector<uint64_t>{1});
  EXPECT_EQ(gone_, std::vector<uint64_t>{1});
  Store(1);
  slow_.Answer(now_, absl::OkStatus());
  EXPECT_EQ(stored_, (std::vector<uint64_t>{1, 1}));
  EXPECT_EQ(slow_.deleted, std::vector<StoredFile>{File(1)});
}

TEST_F(PatientDiskTest, AFileOfAnotherNameIsNotDeletedWithIt) {
  StoredFile longer = File(1);
  longer.pieces.push_back({1, 2});
  Store(1);
  StoredFile of_other_values = File(1);
  of_other_values.initial_hash = 7;
  disk_.Delete(longer);
  disk_.Delete(of_other_values);
  disk_.Delete(File(2));
  slow_.Answer(now_, absl::OkStatus());
  EXPECT_EQ(stored_, std::vector<uint64_t>{1});
}

TEST_F(PatientDiskTest, WhatWaitsAndIsDeletedIsNotTriedAgain) {
  Store(1);
  slow_.Answer(now_, absl::ResourceExhaustedError("full"));
  disk_.Delete(File(1));
  disk_.OnTime(now_ + kInterval);
  EXPECT_TRUE(slow_.answers.empty());
  EXPECT_EQ(gone_, std::vector<uint64_t>{1});
  EXPECT_EQ(disk_.error(), "");
  EXPECT_FALSE(disk_.NextDeadline().has_value());
}

TEST_F(PatientDiskTest, ATryThatFailsAfterADeletionIsTheLast) {
  Store(1);
  disk_.Delete(File(1));
  slow_.Answer(now_, absl::ResourceExhaustedError("full"));
  EXPECT_EQ(gone_, std::vector<uint64_t>{1});
  EXPECT_TRUE(said_.empty());
}

TEST_F(PatientDiskTest, AnAnswerAfterItsEndIsHeardByNobody) {
  auto disk = std::make_unique<PatientDisk>(slow_, kInterval,
                                            [](Instant) { ADD_FAILURE(); });
  disk->Store(File(1), {}, [](Instant, absl::Status) { ADD_FAILURE(); });
  disk.reset();
  slow_.Answer(now_, absl::ResourceExhaustedError("full"));
}

}  // namespace
}  // namespace skerry::worker
