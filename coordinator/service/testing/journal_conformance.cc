#include "coordinator/service/testing/journal_conformance.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "runtime/testing/manual_loop.h"

namespace skerry::coordinator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

JournalEntry Entry(uint64_t index, std::string payload) {
  return {Revision(index), static_cast<uint32_t>(index % 5),
          std::move(payload)};
}

std::vector<JournalEntry> ReadAll(Journal& journal) {
  std::vector<JournalEntry> read;
  const absl::Status status = journal.Read([&](const JournalEntry& entry) {
    read.push_back(entry);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return read;
}

JournalFailure NoFailure() {
  return [](absl::Status status) { ADD_FAILURE() << status; };
}

class Fixture {
 public:
  explicit Fixture(const JournalKind& kind) : home_(kind.make()) {
    journal_ = home_->Open(loop_, NoFailure());
  }
  // Appends and waits until it is durable.
  void Append(std::vector<JournalEntry> batch) {
    bool done = false;
    journal_->Append(std::move(batch), [&] { done = true; });
    loop_.RunUntilIdle();
    EXPECT_TRUE(done);
  }
  void Compact(JournalSnapshot snapshot) {
    bool done = false;
    journal_->Compact(std::move(snapshot), [&] { done = true; });
    EXPECT_FALSE(done);
    loop_.RunUntilIdle();
    EXPECT_TRUE(done);
  }
  void CrashAndReopen() {
    home_->Crash();
    journal_ = home_->Open(loop_, NoFailure());
  }
  Journal& journal() { return *journal_; }
  runtime::ManualLoop& loop() { return loop_; }
  JournalHome& home() { return *home_; }

 private:
  runtime::ManualLoop loop_;
  std::unique_ptr<JournalHome> home_;
  std::unique_ptr<Journal> journal_;
};

TEST_P(JournalConformance, ANewJournalIsEmpty) {
  Fixture fixture(GetParam());
  EXPECT_THAT(ReadAll(fixture.journal()), IsEmpty());
}

TEST_P(JournalConformance, WhatWasAcknowledgedSurvivesACrash) {
  Fixture fixture(GetParam());
  const JournalEntry first = Entry(1, std::string("a\0b", 3));
  const JournalEntry second = Entry(2, "");
  const JournalEntry third = Entry(3, std::string(100'000, 'x'));
  fixture.Append({first, second});
  fixture.CrashAndReopen();
  fixture.Append({third});
  fixture.CrashAndReopen();
  EXPECT_THAT(ReadAll(fixture.journal()), ElementsAre(first, second, third));
}

TEST_P(JournalConformance, DoneRunsOnTheLoopAndNotInsideAppend) {
  Fixture fixture(GetParam());
  bool done = false;
  fixture.journal().Append({Entry(1, "x")}, [&] { done = true; });
  EXPECT_FALSE(done);
  fixture.loop().RunUntilIdle();
  EXPECT_TRUE(done);
}

TEST_P(JournalConformance, ManyBatchesKeepTheirOrder) {
  Fixture fixture(GetParam());
  std::vector<JournalEntry> all;
  for (uint64_t index = 1; index <= 200; ++index) {
    all.push_back(Entry(index, absl::StrCat("payload ", index)));
    fixture.Append({all.back()});
  }
  fixture.CrashAndReopen();
  EXPECT_EQ(ReadAll(fixture.journal()), all);
}

TEST_P(JournalConformance, EveryOpeningRaisesTheTerm) {
  Fixture fixture(GetParam());
  const uint64_t first = fixture.journal().term();
  fixture.CrashAndReopen();
  const uint64_t second = fixture.journal().term();
  EXPECT_GT(second, first);
  fixture.CrashAndReopen();
  EXPECT_GT(fixture.journal().term(), second);
}

std::optional<JournalSnapshot> SnapshotOf(Journal& journal) {
  const auto snapshot = journal.ReadSnapshot();
  EXPECT_TRUE(snapshot.ok()) << snapshot.status();
  return snapshot.value_or(std::nullopt);
}

TEST_P(JournalConformance, ASnapshotTakesThePlaceOfTheRecordsBeforeIt) {
  Fixture fixture(GetParam());
  EXPECT_EQ(SnapshotOf(fixture.journal()), std::nullopt);
  fixture.Append({Entry(1, "a"), Entry(2, "b")});
  fixture.Compact({Revision(2), std::string("s\0t", 3)});
  fixture.Append({Entry(3, "c")});
  fixture.CrashAndReopen();
  EXPECT_EQ(SnapshotOf(fixture.journal()),
            (JournalSnapshot{Revision(2), std::string("s\0t", 3)}));
  EXPECT_THAT(ReadAll(fixture.journal()), ElementsAre(Entry(3, "c")));
}

TEST_P(JournalConformance, ANewerSnapshotTakesThePlaceOfAnOlder) {
  Fixture fixture(GetParam());
  fixture.Append({Entry(1, "a")});
  fixture.Compact({Revision(1), "first"});
  fixture.Append({Entry(2, "b")});
  fixture.Compact({Revision(2), std::string(1 << 20, 'x')});
  fixture.CrashAndReopen();
  EXPECT_EQ(SnapshotOf(fixture.journal()),
            (JournalSnapshot{Revision(2), std::string(1 << 20, 'x')}));
  EXPECT_THAT(ReadAll(fixture.journal()), IsEmpty());
  fixture.Append({Entry(3, "c")});
  fixture.CrashAndReopen();
  EXPECT_THAT(ReadAll(fixture.journal()), ElementsAre(Entry(3, "c")));
}

TEST_P(JournalConformance, ReadStopsAtTheTakersError) {
  Fixture fixture(GetParam());
  fixture.Append({Entry(1, "a"), Entry(2, "b"), Entry(3, "c")});
  int taken = 0;
  const absl::Status status =
      fixture.journal().Read([&](const JournalEntry&) -> absl::Status {
        if (++taken < 2) return absl::OkStatus();
        return absl::InvalidArgumentError("unreadable");
      });
  EXPECT_EQ(status, absl::InvalidArgumentError("unreadable"));
  EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace skerry::coordinator
