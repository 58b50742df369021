#include "coordinator/core/worker_table.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using Verdict = WorkerTable::Verdict;

Instant At(absl::Duration since) { return Instant(since); }

StatusFacts From(const std::string& name, uint64_t boot, uint64_t incarnation,
                 uint64_t counter = 1) {
  StatusFacts status;
  status.self = {name, name + ":1", ""};
  status.island = "a";
  status.boot = Boot(boot);
  status.incarnation = Incarnation(incarnation);
  status.counter = counter;
  return status;
}

void Admit(WorkerTable& table, const StatusFacts& status, uint64_t index,
           Instant now) {
  ASSERT_TRUE(
      table
          .Apply(Incarnation(index),
                 WorkerAdmitted{status.self, status.boot, status.island, ""})
          .ok());
  table.Heard(status, now);
}

TEST(WorkerTableTest, RegisteringTwiceWithOneBootIsTheSameIncarnation) {
  WorkerTable table({});
  Admit(table, From("w", 5, 0), 3, At(absl::ZeroDuration()));
  EXPECT_EQ(*table.Judge(From("w", 5, 0)), Verdict::kCurrent);
  EXPECT_EQ(*table.Judge(From("w", 5, 3)), Verdict::kCurrent);
}

TEST(WorkerTableTest, ASupersededBootIsNeverAdmittedAgain) {
  WorkerTable table({});
  Admit(table, From("w", 5, 0), 3, At(absl::ZeroDuration()));
  EXPECT_EQ(*table.Judge(From("w", 6, 0)), Verdict::kRegister);
  Admit(table, From("w", 6, 0), 4, At(absl::ZeroDuration()));
  EXPECT_TRUE(absl::IsAborted(table.Judge(From("w", 5, 0)).status()));
  EXPECT_TRUE(absl::IsAborted(table.Judge(From("w", 5, 3)).status()));
}

TEST(WorkerTableTest, ALeaseThatEndedNeedsANewBoot) {
  WorkerTable table({});
  Admit(table, From("w", 5, 0), 3, At(absl::ZeroDuration()));
  ASSERT_TRUE(table.Apply(WorkerLeft{"w", Incarnation(3), ""}).ok());
  EXPECT_TRUE(absl::IsAborted(table.Judge(From("w", 5, 3)).status()));
  EXPECT_TRUE(absl::IsAborted(table.Judge(From("w", 5, 0)).status()));
  EXPECT_EQ(*table.Judge(From("w", 6, 0)), Verdict::kRegister);
}

TEST(WorkerTableTest, ALowerCounterIsARepetition) {
  WorkerTable table({});
  Admit(table, From("w", 5, 0, 7), 3, At(absl::ZeroDuration()));
  EXPECT_EQ(*table.Judge(From("w", 5, 3, 6)), Verdict::kRepetition);
}

TEST(WorkerTableTest, SilenceIsSuspectBeforeTheLeaseEndsAndNotAfterAWord) {
  WorkerTable table({});
  Admit(table, From("w", 5, 0), 3, At(absl::ZeroDuration()));
  ASSERT_TRUE(table.NextDeadline().has_value());
  EXPECT_LT(*table.NextDeadline(), At(absl::Seconds(10)));
  EXPECT_EQ(table.SuspectDue(At(absl::Seconds(9))).size(), 1u);
  EXPECT_TRUE(table.FindCurrent("w")->suspected);
  EXPECT_TRUE(table.Expired(At(absl::Seconds(9.9))).empty());
  EXPECT_EQ(table.Expired(At(absl::Seconds(10))).size(), 1u);
  table.Heard(From("w", 5, 3, 2), At(absl::Seconds(9.9)));
  EXPECT_FALSE(table.FindCurrent("w")->suspected);
}

TEST(WorkerTableTest, ALostStreamIsSuspectAtOnceForTheCurrentBootOnly) {
  WorkerTable table({});
  Admit(table, From("w", 5, 0), 3, At(absl::ZeroDuration()));
  EXPECT_FALSE(table.LoseStream("w", Boot(4), At(absl::Seconds(1))));
  EXPECT_FALSE(table.FindCurrent("w")->suspected);
  EXPECT_TRUE(table.LoseStream("w", Boot(5), At(absl::Seconds(1))));
  EXPECT_TRUE(table.FindCurrent("w")->suspected);
}

TEST(WorkerTableTest, ARestartGivesEveryoneAFullLease) {
  WorkerTable table({});
  Admit(table, From("w", 5, 0), 3, At(absl::ZeroDuration()));
  table.Recovered(At(absl::Seconds(50)));
  EXPECT_TRUE(table.Expired(At(absl::Seconds(59))).empty());
  EXPECT_EQ(table.Expired(At(absl::Seconds(60))).size(), 1u);
}

TEST(WorkerTableTest, AFullTableForgetsTheLostAndRefusesWhenAllLive) {
  ClusterOptions options;
  options.workers_max = 1;
  WorkerTable table(options);
  Admit(table, From("w", 5, 0), 3, At(absl::ZeroDuration()));
  EXPECT_TRUE(absl::IsResourceExhausted(table.Judge(From("x", 1, 0)).status()));
  ASSERT_TRUE(table.Apply(WorkerLeft{"w", Incarnation(3), ""}).ok());
  EXPECT_EQ(*table.Judge(From("x", 1, 0)), Verdict::kRegister);
  Admit(table, From("x", 1, 0), 9, At(absl::ZeroDuration()));
  EXPECT_EQ(table.all().size(), 1u);
}

}  // namespace
}  // namespace skerry::coordinator
