#include "coordinator/service/cluster_shell.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/testing/job_bench.h"
#include "coordinator/service/journal_codec.h"
#include "coordinator/service/testing/memory_journal.h"
#include "coordinator/service/testing/shell_process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/manual_loop.h"

namespace skerry::coordinator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ClusterShellTest, NothingIsSaidBeforeItIsDurable) {
  MemoryDisk disk;
  ShellProcess process(disk);
  FakeStream stream;
  process.shell.Attach("a", stream);
  process.journal.Hold();
  process.Report("a", 7, 0, 1);
  process.shell.Touch("a");
  process.loop.RunUntilIdle();
  EXPECT_TRUE(process.journal.batch_waits());
  EXPECT_THAT(process.answers, IsEmpty());
  EXPECT_THAT(stream.sent, IsEmpty());
  EXPECT_THAT(process.observer.indexes, IsEmpty());
  process.journal.Release();
  process.loop.RunUntilIdle();
  EXPECT_THAT(process.answers, ElementsAre(absl::OkStatus()));
  ASSERT_FALSE(stream.sent.empty());
  EXPECT_EQ(stream.sent.back().incarnation, Incarnation(1));
  EXPECT_EQ(stream.sent.back().revision, Revision(1));
  EXPECT_THAT(process.observer.indexes, ElementsAre(1));
}

TEST(ClusterShellTest, ViewsWaitForTheBatchThatTheyWouldShow) {
  MemoryDisk disk;
  ShellProcess process(disk);
  process.journal.Hold();
  process.Report("a", 7, 0, 1);
  process.loop.RunUntilIdle();
  std::vector<uint64_t> seen;
  process.shell.Look([&](const Cluster& cluster, Instant) {
    seen.push_back(cluster.revision().value());
  });
  process.loop.RunUntilIdle();
  EXPECT_THAT(seen, IsEmpty());
  process.journal.Release();
  process.loop.RunUntilIdle();
  EXPECT_THAT(seen, ElementsAre(1));
}

TEST(ClusterShellTest, AViewDoesNotWaitForFactsOfTheNextBatch) {
  MemoryDisk disk;
  ShellProcess process(disk);
  std::vector<uint64_t> seen;
  const auto look = [&] {
    process.shell.LookSoon([&](const Cluster& cluster, Instant) {
      seen.push_back(cluster.revision().value());
    });
  };
  // Without a batch on its way it is answered at once, although a fact waits.
  process.journal.Hold();
  process.Report("a", 7, 0, 1);
  look();
  EXPECT_THAT(seen, ElementsAre(0));
  // What the batch will make durable is not shown before.
  process.loop.RunUntilIdle();
  ASSERT_TRUE(process.journal.batch_waits());
  look();
  process.Report("b", 8, 0, 1);
  process.loop.RunUntilIdle();
  EXPECT_THAT(seen, SizeIs(1));
  process.journal.Release();
  process.journal.Hold();
  process.loop.RunUntilIdle();
  ASSERT_TRUE(process.journal.batch_waits());
  EXPECT_THAT(seen, ElementsAre(0, 1));
  process.journal.Release();
  process.loop.RunUntilIdle();
  EXPECT_THAT(process.answers, SizeIs(2));
}

TEST(ClusterShellTest, FactsThatArriveDuringASyncShareTheNextBatch) {
  MemoryDisk disk;
  ShellProcess process(disk);
  process.journal.Hold();
  process.Report("a", 7, 0, 1);
  process.loop.RunUntilIdle();
  for (int i = 0; i < 50; ++i) {
    process.Report(absl::StrCat("b", i), 100 + i, 0, 1);
    process.loop.RunUntilIdle();
  }
  // The core has not been touched: only the first is in the batch.
  process.journal.Release();
  EXPECT_THAT(disk.entries, SizeIs(1));
  process.journal.Hold();
  process.loop.RunUntilIdle();
  EXPECT_THAT(process.answers, SizeIs(1));
  EXPECT_TRUE(process.journal.batch_waits());
  process.journal.Release();
  process.loop.RunUntilIdle();
  EXPECT_THAT(disk.entries, SizeIs(51));
  EXPECT_THAT(process.answers, SizeIs(51));
}

TEST(ClusterShellTest, WhatCouldNotBeSyncedIsNeverSaid) {
  MemoryDisk disk;
  ShellProcess process(disk);
  process.journal.FailNext();
  process.Report("a", 7, 0, 1);
  process.loop.RunUntilIdle();
  EXPECT_EQ(process.failure.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(process.answers, IsEmpty());
  EXPECT_THAT(disk.entries, IsEmpty());
}

TEST(ClusterShellTest, ADeposedProcessFails) {
  MemoryDisk disk;
  ShellProcess deposed(disk);
  ShellProcess next(disk);
  deposed.Report("a", 7, 0, 1);
  deposed.loop.RunUntilIdle();
  EXPECT_EQ(deposed.failure.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(deposed.answers, IsEmpty());
}

TEST(ClusterShellTest, ARestartFindsTheStateThatWasDurable) {
  MemoryDisk disk;
  uint64_t before = 0;
  {
    ShellProcess process(disk);
    for (int i = 0; i < 10; ++i) {
      process.Report(absl::StrCat("w", i), 100 + i, 0, 1);
    }
    process.loop.RunUntilIdle();
    before = process.StateHash();
    // Decided, but the process dies before the sync.
    process.journal.Hold();
    process.Report("late", 9, 0, 1);
    process.loop.RunUntilIdle();
  }
  ShellProcess again(disk);
  ASSERT_TRUE(again.recovered.ok()) << again.recovered;
  EXPECT_EQ(again.StateHash(), before);
  EXPECT_THAT(again.observer.indexes, SizeIs(10));
}

// A replica has been admitted, and its process died before it granted samples.
MemoryDisk DiskThatLacksGrants() {
  JobBench bench;
  bench.AddReplica("north", {"a"});
  MemoryDisk disk;
  disk.entries.push_back(
      EntryToJournal({Revision(1), JobSubmitted{bench.job.spec, "key"}}));
  for (const Entry& entry : bench.records) {
    if (std::holds_alternative<Granted>(entry.record)) break;
    disk.entries.push_back(EntryToJournal(entry));
  }
  return disk;
}

TEST(ClusterShellTest, WhatRecoveryDecidesIsShownOnceItIsDurable) {
  MemoryDisk disk = DiskThatLacksGrants();
  const size_t replayed = disk.entries.size();
  ShellProcess process(disk, absl::Seconds(10), {}, /*disk_hangs=*/true);
  ASSERT_TRUE(process.recovered.ok()) << process.recovered;
  EXPECT_TRUE(process.journal.batch_waits());
  EXPECT_THAT(process.observer.indexes, IsEmpty());
  process.journal.Release();
  process.loop.RunUntilIdle();
  ASSERT_GT(disk.entries.size(), replayed);
  ASSERT_THAT(process.observer.indexes, SizeIs(disk.entries.size()));
  EXPECT_EQ(process.observer.indexes.front(), 1u);
  EXPECT_EQ(process.observer.indexes.back(), disk.entries.size());
}

TEST(ClusterShellTest, ARecordThatCannotBeUsedIsNamed) {
  MemoryDisk disk;
  { ShellProcess(disk).Report("a", 7, 0, 1); }
  disk.entries = {{Revision(1), 1, "\xff\xff"}};
  EXPECT_EQ(ShellProcess(disk).recovered.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(ShellProcess(disk).recovered.message()),
              testing::HasSubstr("record 1 of the journal"));
}

TEST(ClusterShellTest, SilenceEndsAWorkerAtItsDeadlineWithoutAnyMessage) {
  MemoryDisk disk;
  ShellProcess process(disk, /*lease=*/absl::Seconds(5));
  process.Report("a", 7, 0, 1);
  process.loop.RunUntilIdle();
  EXPECT_THAT(disk.entries, SizeIs(1));
  process.loop.Advance(absl::Seconds(6));
  EXPECT_THAT(disk.entries, SizeIs(2));
}

// Workers were told to come again when a coordinator began to stop, an open
// call held it up for longer than a lease, and the next one found all lives
// ended.
TEST(ClusterShellTest, SilenceCountsForNothingOnceTheClockIsStopped) {
  MemoryDisk disk;
  ShellProcess process(disk, /*lease=*/absl::Seconds(5));
  process.Report("a", 7, 0, 1);
  process.loop.RunUntilIdle();
  process.shell.StopClock();
  process.loop.Advance(absl::Seconds(60));
  EXPECT_THAT(disk.entries, SizeIs(1));
}

TEST(ClusterShellTest, IdleMeansThatNoBatchIsOnItsWay) {
  MemoryDisk disk;
  ShellProcess process(disk);
  process.journal.Hold();
  process.Report("a", 7, 0, 1);
  process.loop.RunUntilIdle();
  bool idle = false;
  process.shell.WhenIdle([&] { idle = true; });
  process.loop.RunUntilIdle();
  EXPECT_FALSE(idle);
  process.journal.Release();
  process.loop.RunUntilIdle();
  EXPECT_TRUE(idle);
}

constexpr CompactionRule kAlways{.records_min = 3, .bytes_ratio_min = 0};

void ReportMany(ShellProcess& process, uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to; ++i) {
    process.Report(absl::StrCat("w", i), i + 1, 0, 1);
    process.loop.RunUntilIdle();
  }
}

TEST(ClusterShellTest, ASnapshotTakesThePlaceOfRecordsAndNothingElseChanges) {
  MemoryDisk whole;
  MemoryDisk compacted;
  ShellProcess plain(whole);
  auto process =
      std::make_unique<ShellProcess>(compacted, absl::Seconds(10), kAlways);
  ReportMany(plain, 0, 5);
  ReportMany(*process, 0, 5);
  EXPECT_THAT(whole.entries, SizeIs(5));
  ASSERT_TRUE(compacted.snapshot.has_value());
  EXPECT_EQ(compacted.snapshot->index, Revision(3));
  EXPECT_THAT(compacted.entries, SizeIs(2));
  EXPECT_THAT(process->answers, SizeIs(5));
  process =
      std::make_unique<ShellProcess>(compacted, absl::Seconds(10), kAlways);
  EXPECT_TRUE(process->recovered.ok()) << process->recovered;
  EXPECT_EQ(process->StateHash(), plain.StateHash());
  EXPECT_THAT(process->observer.indexes, ElementsAre(4, 5));
  ASSERT_THAT(process->observer.restored.events, SizeIs(1));
  EXPECT_EQ(process->observer.restored.events[0].revision, Revision(3));
  // The two after the snapshot count towards the next one.
  ReportMany(*process, 5, 6);
  EXPECT_EQ(compacted.snapshot->index, Revision(6));
}

TEST(ClusterShellTest, FactsWaitForASnapshotOnASlowDiskAndViewsDoNot) {
  MemoryDisk disk;
  ShellProcess process(disk, absl::Seconds(10), kAlways);
  ReportMany(process, 0, 2);
  process.journal.Hold();
  process.Report("w2", 3, 0, 1);
  process.loop.RunUntilIdle();
  process.journal.Release();
  process.journal.Hold();
  process.loop.RunUntilIdle();
  EXPECT_TRUE(process.journal.batch_waits());
  EXPECT_THAT(process.answers, SizeIs(3));
  process.Report("w3", 4, 0, 1);
  process.loop.RunUntilIdle();
  EXPECT_THAT(process.answers, SizeIs(3));
  bool looked = false;
  process.shell.LookSoon([&](const Cluster&, Instant) { looked = true; });
  EXPECT_TRUE(looked);
  // A crash now leaves the records.
  EXPECT_EQ(disk.snapshot, std::nullopt);
  EXPECT_THAT(disk.entries, SizeIs(3));
  process.journal.Release();
  process.loop.RunUntilIdle();
  EXPECT_EQ(disk.snapshot->index, Revision(3));
  EXPECT_THAT(disk.entries, SizeIs(1));
  EXPECT_THAT(process.answers, SizeIs(4));
}

TEST(ClusterShellTest, FactsThatFollowFromASettledOneWaitForTheSnapshotToo) {
  MemoryDisk disk;
  ShellProcess process(disk, absl::Seconds(10),
                       CompactionRule{.records_min = 1, .bytes_ratio_min = 0});
  bool looked = false;
  process.Report("w0", 1, 0, 1);
  process.shell.Look([&](const Cluster&, Instant) {
    process.Report("w1", 2, 0, 1);
    process.shell.Look([&](const Cluster&, Instant) { looked = true; });
  });
  process.loop.RunUntilIdle();
  EXPECT_TRUE(looked);
  EXPECT_THAT(process.answers, SizeIs(2));
  EXPECT_EQ(disk.snapshot->index, Revision(2));
}

TEST(ClusterShellTest, ALargeSnapshotWaitsForAsMuchNewHistory) {
  MemoryDisk disk;
  ShellProcess process(disk, absl::Seconds(10),
                       CompactionRule{.records_min = 1, .bytes_ratio_min = 1});
  int snapshots = 0;
  Revision newest;
  for (uint64_t i = 0; i < 256; ++i) {
    ReportMany(process, i, i + 1);
    ASSERT_TRUE(disk.snapshot.has_value());
    snapshots += disk.snapshot->index > newest ? 1 : 0;
    newest = disk.snapshot->index;
  }
  EXPECT_GT(snapshots, 4);
  EXPECT_LT(snapshots, 32);
}

TEST(ClusterShellTest, ASnapshotThatCannotBeUsedIsNamed) {
  MemoryDisk disk;
  {
    ShellProcess process(disk, absl::Seconds(10), kAlways);
    ReportMany(process, 0, 3);
  }
  disk.snapshot->payload[0] ^= 1;
  ShellProcess process(disk);
  EXPECT_EQ(process.recovered.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(process.recovered.ToString().find("snapshot at record 3"),
            std::string::npos)
      << process.recovered;
}

// A sleep of 25 s, with a lease of 10 s.
TEST(ClusterShellTest, ASleepEndsNobodysLease) {
  MemoryDisk disk;
  ShellProcess process(disk);
  process.Report("a", 7, 0, 1);
  process.loop.RunUntilIdle();
  process.loop.Advance(absl::Seconds(3));
  process.loop.SleepUntil(process.loop.Now() + absl::Seconds(25));
  process.loop.RunUntilIdle();
  EXPECT_THAT(disk.entries, SizeIs(1));
  // From now on it has a whole lease, and no more.
  process.loop.Advance(absl::Seconds(9));
  EXPECT_THAT(disk.entries, SizeIs(1));
  process.loop.Advance(absl::Seconds(2));
  EXPECT_THAT(disk.entries, SizeIs(2));
  const auto last = EntryFromJournal(disk.entries.back());
  ASSERT_TRUE(last.ok() && std::holds_alternative<WorkerLeft>(last->record));
}

TEST(ClusterShellTest, ADiskThatHangsEndsNobodysLease) {
  MemoryDisk disk;
  ShellProcess process(disk);
  process.Report("a", 7, 0, 1);
  process.Report("b", 8, 0, 1);
  process.loop.RunUntilIdle();
  process.journal.Hold();
  process.Report("c", 9, 0, 1);
  process.loop.RunUntilIdle();
  // Others speak, and are not heard until the batch is on the disk.
  process.loop.Advance(absl::Seconds(12));
  process.Report("a", 7, 1, 2);
  process.Report("b", 8, 2, 2);
  process.loop.RunUntilIdle();
  process.journal.Release();
  process.loop.RunUntilIdle();
  EXPECT_THAT(disk.entries, SizeIs(3));
  EXPECT_THAT(process.answers, SizeIs(5));
  for (const absl::Status& answer : process.answers) EXPECT_TRUE(answer.ok());
}

}  // namespace
}  // namespace skerry::coordinator
