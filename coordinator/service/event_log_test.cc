#include "coordinator/service/event_log.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr JobId kFirst{1};
constexpr JobId kSecond{3};

// Submits 1, admits a worker at 2, submits 3, ends 1 at 4, admits a worker at
// 5, ends 3 at 6.
EventLog History(size_t events_max) {
  EventLog log(events_max);
  const std::vector<Record> records = {
      JobSubmitted{},   WorkerAdmitted{},
      JobSubmitted{},   JobEnded{kFirst, JobPhase::kSucceeded, ""},
      WorkerAdmitted{}, JobEnded{kSecond, JobPhase::kCancelled, ""}};
  uint64_t index = 0;
  for (const Record& record : records) {
    ++index;
    log.Add(Entry{Revision(index), record},
            Instant(absl::Seconds(static_cast<int64_t>(index))));
  }
  return log;
}

std::vector<uint64_t> RevisionsOf(const EventLog& log, JobId job,
                                  uint64_t after) {
  std::vector<uint64_t> revisions;
  for (const LoggedEvent* next = log.Next(job, Revision(after));
       next != nullptr; next = log.Next(job, next->event.revision)) {
    revisions.push_back(next->event.revision.value());
  }
  return revisions;
}

TEST(EventLogTest, AJobsHistoryIsItsOwnEventsAndTheClustersWhileItRan) {
  const EventLog log = History(100);
  EXPECT_THAT(RevisionsOf(log, kFirst, 0), ElementsAre(1, 2, 4));
  EXPECT_THAT(RevisionsOf(log, kSecond, 0), ElementsAre(3, 5, 6));
}

TEST(EventLogTest, ReadingGoesOnAfterAnyRevision) {
  const EventLog log = History(100);
  EXPECT_THAT(RevisionsOf(log, kFirst, 1), ElementsAre(2, 4));
  EXPECT_THAT(RevisionsOf(log, kFirst, 3), ElementsAre(4));
  EXPECT_THAT(RevisionsOf(log, kFirst, 4), IsEmpty());
  EXPECT_THAT(RevisionsOf(log, kFirst, UINT64_MAX), IsEmpty());
}

TEST(EventLogTest, AWorkersHistoryIsWhatNamesIt) {
  EventLog log(100);
  uint64_t index = 0;
  for (const char* name : {"w", "other", "w"}) {
    log.Add(Entry{Revision(++index),
                  WorkerAdmitted{{name, "", ""}, Boot(index), "a", ""}},
            Instant());
  }
  log.Add(Entry{Revision(++index), WorkerMarked{"w", WorkerIntent::kDrain}},
          Instant());
  std::vector<uint64_t> revisions;
  const LoggedEvent* next = log.NextOfWorker("w", Revision());
  for (; next != nullptr; next = log.NextOfWorker("w", next->event.revision)) {
    revisions.push_back(next->event.revision.value());
  }
  EXPECT_THAT(revisions, ElementsAre(1, 3, 4));
  EventLog restored(100);
  restored.Restore(log.Save(100), Instant());
  EXPECT_NE(restored.NextOfWorker("w", Revision(3)), nullptr);
}

TEST(EventLogTest, AJobHasEndedOnceItsLastRecordIsIn) {
  const EventLog log = History(100);
  EXPECT_TRUE(log.Ended(kFirst));
  EXPECT_FALSE(log.Ended(JobId(2)));
}

TEST(EventLogTest, TheOldestEventsGoFirst) {
  const EventLog log = History(3);
  EXPECT_THAT(RevisionsOf(log, kFirst, 0), ElementsAre(4));
  EXPECT_THAT(RevisionsOf(log, kSecond, 0), ElementsAre(5, 6));
}

TEST(EventLogTest, WhatWasSavedIsReadAsBefore) {
  EventLog log(100);
  log.Restore(History(100).Save(100), Instant(absl::Seconds(9)));
  EXPECT_THAT(RevisionsOf(log, kFirst, 0), ElementsAre(1, 2, 4));
  EXPECT_THAT(RevisionsOf(log, kSecond, 3), ElementsAre(5, 6));
  EXPECT_TRUE(log.Ended(kFirst));
  EXPECT_EQ(log.Next(kFirst, Revision(1))->at, Instant(absl::Seconds(9)));
}

TEST(EventLogTest, OnlyTheNewestAreSaved) {
  const EventHistory saved = History(100).Save(1);
  ASSERT_EQ(saved.events.size(), 1u);
  EXPECT_EQ(saved.events[0].revision, Revision(6));
  EXPECT_THAT(saved.ended, ElementsAre(std::pair(kSecond, Revision(6))));
}

TEST(EventLogTest, EventsKnowWhenTheyWereAdded) {
  const EventLog log = History(100);
  EXPECT_EQ(log.Next(kFirst, Revision(1))->at, Instant(absl::Seconds(2)));
}

TEST(EventLogTest, RoutineDoesNotPushOutWhatIsRare) {
  EventLog log(100);
  log.Add(Entry{Revision(1), WorkerAdmitted{}}, Instant());
  log.Add(Entry{Revision(2), WorkerAdmitted{}}, Instant());
  for (uint64_t index = 3; index <= 9; ++index) {
    log.Add(Entry{Revision(index), Committed{}}, Instant());
  }
  log.Add(Entry{Revision(10), WorkerAdmitted{}}, Instant());
  const auto newest = [&log](uint64_t after, size_t most) {
    std::vector<uint64_t> revisions;
    for (const LoggedEvent& logged : log.Newest(Revision(after), most)) {
      revisions.push_back(logged.event.revision.value());
    }
    return revisions;
  };
  EXPECT_THAT(newest(0, 3), ElementsAre(1, 2, 7, 8, 9, 10));
  EXPECT_THAT(newest(0, 2), ElementsAre(2, 8, 9, 10));
  EXPECT_THAT(newest(8, 3), ElementsAre(9, 10));
  EXPECT_THAT(newest(10, 3), IsEmpty());
}

}  // namespace
}  // namespace skerry::coordinator
