#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "simulator/process.h"
#include "simulator/sim_journal.h"
#include "simulator/worker_disk.h"

namespace skerry::sim {
namespace {

FileBytes Bytes(size_t count) {
  return std::make_shared<const std::vector<std::byte>>(count, std::byte{7});
}

class DisksTest : public testing::Test {
 protected:
  void RunAll() {
    while (timeline_.next() < Instant(absl::InfiniteDuration())) {
      timeline_.RunNext();
    }
  }
  std::unique_ptr<SimJournal> Open() {
    return std::make_unique<SimJournal>(
        journal_disk_, timeline_, random_, process_,
        [this](const std::vector<coordinator::JournalEntry>& entries) {
          durable_ += entries.size();
        },
        [this](absl::Status why) { failure_ = why; });
  }

  Timeline timeline_;
  Random random_{3};
  Clock clock_;
  Process process_{timeline_, random_, clock_, [] {}};
  WorkerDisk disk_{timeline_, random_};
  JournalDisk journal_disk_;
  size_t durable_ = 0;
  absl::Status failure_;
};

TEST_F(DisksTest, AWriteIsThereWhenItIsDone) {
  bool done = false;
  disk_.Write("a/x", Bytes(3), [&](absl::Status status) {
    done = status.ok() && disk_.Find("a/x") != nullptr;
  });
  EXPECT_EQ(disk_.Find("a/x"), nullptr);
  RunAll();
  EXPECT_TRUE(done);
  EXPECT_EQ(disk_.List("a"), std::vector<std::string>{"x"});
  disk_.Remove("a/x");
  RunAll();
  EXPECT_EQ(disk_.Find("a/x"), nullptr);
}

TEST_F(DisksTest, RotChangesOneBitAndNothingThatIsMapped) {
  disk_.Write("a/x", Bytes(3), [](absl::Status) {});
  RunAll();
  EXPECT_EQ(disk_.Paths(), std::vector<std::string>{"a/x"});
  const FileBytes mapped = disk_.Find("a/x");
  EXPECT_FALSE(disk_.has_rotten());
  disk_.Rot("a/x");
  EXPECT_TRUE(disk_.has_rotten());
  EXPECT_EQ(*mapped, *Bytes(3));
  int bits = 0;
  for (size_t i = 0; i < 3; ++i) {
    const std::byte change = (*disk_.Find("a/x"))[i] ^ (*mapped)[i];
    bits += std::popcount(std::to_integer<unsigned>(change));
  }
  EXPECT_EQ(bits, 1);
}

TEST_F(DisksTest, AFolderThatWasRemovedTakesNothingUntilItIsMadeAgain) {
  disk_.MakeFolder("a");
  disk_.Write("a/x", Bytes(3), [](absl::Status) {});
  RunAll();
  EXPECT_FALSE(disk_.IsGone("a"));
  EXPECT_EQ(disk_.TimesMadeAnew("a"), 0u);
  disk_.RemoveFolders();
  EXPECT_EQ(disk_.Find("a/x"), nullptr);
  EXPECT_TRUE(disk_.IsGone("a"));
  absl::Status status;
  disk_.Write("a/y", Bytes(3), [&](absl::Status s) { status = s; });
  RunAll();
  EXPECT_TRUE(absl::IsNotFound(status));
  disk_.MakeFolder("a");
  EXPECT_FALSE(disk_.IsGone("a"));
  EXPECT_EQ(disk_.TimesMadeAnew("a"), 1u);
  disk_.Write("a/y", Bytes(3), [&](absl::Status s) { status = s; });
  RunAll();
  EXPECT_TRUE(status.ok());
}

TEST_F(DisksTest, AFullDiskChangesNothing) {
  disk_.full = true;
  absl::Status status;
  disk_.Write("a/x", Bytes(3), [&](absl::Status s) { status = s; });
  RunAll();
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_EQ(disk_.Find("a/x"), nullptr);
}

TEST_F(DisksTest, WhatWasOnItsWayIsThereLostOrTorn) {
  int whole = 0, torn = 0, lost = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string path = "a/" + std::to_string(i);
    disk_.Write(path, Bytes(100), [](absl::Status) { FAIL(); });
    disk_.OnProcessEnd(WorkerDisk::End::kPowerLost);
    const FileBytes found = disk_.Find(path);
    if (found == nullptr) {
      ++lost;
    } else {
      ++(*found == *Bytes(100) ? whole : torn);
    }
  }
  RunAll();
  EXPECT_GT(whole, 20);
  EXPECT_GT(torn, 20);
  EXPECT_GT(lost, 20);
}

TEST_F(DisksTest, ABatchOfAProcessThatDiedIsDurableAsAWholeOrNotAtAll) {
  size_t kept = 0;
  for (int i = 0; i < 100; ++i) {
    journal_disk_.entries.clear();
    auto journal = Open();
    journal->Append({{Revision(1), 1, "a"}, {Revision(2), 1, "b"}},
                    [] { FAIL(); });
    journal.reset();
    const size_t count = journal_disk_.entries.size();
    EXPECT_TRUE(count == 0 || count == 2);
    kept += count / 2;
  }
  RunAll();
  EXPECT_GT(kept, 20u);
  EXPECT_LT(kept, 80u);
  EXPECT_EQ(durable_, 2 * kept);
}

TEST_F(DisksTest, AJournalThatCannotSyncFails) {
  const auto journal = Open();
  journal_disk_.fails_next = true;
  journal->Append({{Revision(1), 1, "a"}}, [] { FAIL(); });
  RunAll();
  EXPECT_TRUE(absl::IsInternal(failure_));
  EXPECT_EQ(durable_, 0u);
}

}  // namespace
}  // namespace skerry::sim
