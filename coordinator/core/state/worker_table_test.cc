#include "coordinator/core/state/worker_table.h"

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
  status.folder = FolderId(1);
  status.incarnation = Incarnation(incarnation);
  status.counter = counter;
  return status;
}

absl::StatusOr<Verdict> JudgeNow(const WorkerTable& table,
                                 const StatusFacts& status) {
  return table.Judge(status, At(absl::ZeroDuration()));
}

void Admit(WorkerTable& table, const StatusFacts& status, uint64_t index,
           Instant now) {
  ASSERT_TRUE(table
                  .Apply(Incarnation(index),
                         WorkerAdmitted{status.self, status.boot, status.island,
                                        "", status.folder, status.process})
                  .ok());
  table.Heard(status, now);
}

TEST(WorkerTableTest, RegisteringTwiceWithOneBootIsTheSameIncarnation) {
  WorkerTable table({});
  Admit(table, From("w", 5, 0), 3, At(absl::ZeroDuration()));
  EXPECT_EQ(*JudgeNow(table, From("w", 5, 0)), Verdict::kCurrent);
  EXPECT_EQ(*JudgeNow(table, From("w", 5, 3)), Verdict::kCurrent);
}

TEST(WorkerTableTest, ASupersededBootIsNeverAdmittedAgain) {
  WorkerTable table({});
  Admit(table, From("w", 5, 0), 3, At(absl::ZeroDuration()));
  EXPECT_EQ(*JudgeNow(table, From("w", 6, 0)), Verdict::kRegister);
  Admit(table, From("w", 6, 0), 4, At(absl::ZeroDuration()));
  EXPECT_TRUE(absl::IsAborted(JudgeNow(table, From("w", 5, 0)).status()));
  EXPECT_TRUE(absl::IsAborted(JudgeNow(table, From("w", 5, 3)).status()));
}

TEST(WorkerTableTest, ALeaseThatEndedNeedsANewBoot) {
  WorkerTable table({});
  Admit(table, From("w", 5, 0), 3, At(absl::ZeroDuration()));
  ASSERT_TRUE(table.Apply(WorkerLeft{"w", Incarnation(3), ""}).ok());
  EXPECT_TRUE(absl::IsAborted(JudgeNow(table, From("w", 5, 3)).status()));
  EXPECT_TRUE(absl::IsAborted(JudgeNow(table, From("w", 5, 0)).status()));
  EXPECT_EQ(*JudgeNow(table, From("w", 6, 0)), Verdict::kRegister);
}

TEST(WorkerTableTest, ALowerCounterIsARepetition) {
  WorkerTable table({});
  Admit(table, From("w", 5, 0, 7), 3, At(absl::ZeroDuration()));
  EXPECT_EQ(*JudgeNow(table, From("w", 5, 3, 6)), Verdict::kRepetition);
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
  table.GiveLeases(At(absl::Seconds(50)));
  EXPECT_TRUE(table.Expired(At(absl::Seconds(59))).empty());
  EXPECT_EQ(table.Expired(At(absl::Seconds(60))).size(), 1u);
}

TEST(WorkerTableTest, AFullTableForgetsTheLostAndRefusesWhenAllLive) {
  ClusterOptions options;
  options.workers_max = 1;
  WorkerTable table(options);
  Admit(table, From("w", 5, 0), 3, At(absl::ZeroDuration()));
  EXPECT_TRUE(
      absl::IsResourceExhausted(JudgeNow(table, From("x", 1, 0)).status()));
  ASSERT_TRUE(table.Apply(WorkerLeft{"w", Incarnation(3), ""}).ok());
  EXPECT_EQ(*JudgeNow(table, From("x", 1, 0)), Verdict::kRegister);
  Admit(table, From("x", 1, 0), 9, At(absl::ZeroDuration()));
  EXPECT_EQ(table.all().size(), 1u);
}

// From another state folder than From().
StatusFacts FromFolder(uint64_t folder, uint64_t boot, uint64_t process) {
  StatusFacts status = From("w", boot, 0);
  status.self.address = "w:2";
  status.folder = FolderId(folder);
  status.process = Boot(process);
  return status;
}

TEST(WorkerTableTest, AnotherFolderIsRefusedWithTheAddressOfTheFirst) {
  WorkerTable table({});
  Admit(table, FromFolder(1, 5, 5), 3, At(absl::ZeroDuration()));
  const absl::Status refused = JudgeNow(table, FromFolder(2, 6, 6)).status();
  EXPECT_TRUE(absl::IsAlreadyExists(refused)) << refused;
  EXPECT_EQ(refused.message(),
            "worker w is another process, at w:2, with another state folder; "
            "stop that one, or give this one another --name");
  table.Refused(FromFolder(2, 6, 6), refused, At(absl::Seconds(1)));
  ASSERT_TRUE(table.FindCurrent("w")->contender.has_value());
  EXPECT_EQ(table.FindCurrent("w")->contender->address, "w:2");
}

TEST(WorkerTableTest, ARestartOfTheSameFolderTakesItsPlaceOverAtOnce) {
  WorkerTable table({});
  Admit(table, FromFolder(1, 5, 5), 3, At(absl::ZeroDuration()));
  EXPECT_EQ(*JudgeNow(table, FromFolder(1, 6, 6)), Verdict::kRegister);
  table.GiveLeases(At(absl::ZeroDuration()));
  EXPECT_EQ(*JudgeNow(table, FromFolder(1, 6, 6)), Verdict::kRegister);
}

TEST(WorkerTableTest, AnotherFolderWaitsForTheLeaseOfOneThatIsGone) {
  WorkerTable table({});
  Admit(table, FromFolder(1, 5, 5), 3, At(absl::ZeroDuration()));
  ASSERT_TRUE(table.LoseStream("w", Boot(5), At(absl::Seconds(1))));
  const absl::Status waits =
      table.Judge(FromFolder(2, 6, 6), At(absl::Seconds(4))).status();
  EXPECT_TRUE(absl::IsUnavailable(waits)) << waits;
  EXPECT_NE(waits.message().find("in 6s"), std::string::npos) << waits;
  ASSERT_TRUE(table.Apply(WorkerLeft{"w", Incarnation(3), ""}).ok());
  EXPECT_EQ(*JudgeNow(table, FromFolder(2, 6, 6)), Verdict::kRegister);
  Admit(table, FromFolder(2, 6, 6), 9, At(absl::Seconds(5)));
  // The first comes back, and is the second now.
  EXPECT_TRUE(
      absl::IsAlreadyExists(JudgeNow(table, FromFolder(1, 7, 5)).status()));
}

TEST(WorkerTableTest, AfterARestartTheNameWaitsForItsOwner) {
  WorkerTable before({});
  Admit(before, FromFolder(1, 5, 5), 3, At(absl::ZeroDuration()));
  WorkerTable table({});
  ASSERT_TRUE(table.Restore(before.Save()).ok());
  table.GiveLeases(At(absl::Seconds(50)));
  EXPECT_TRUE(absl::IsUnavailable(
      table.Judge(FromFolder(2, 6, 6), At(absl::Seconds(51))).status()));
  EXPECT_EQ(*table.Judge(FromFolder(1, 7, 7), At(absl::Seconds(51))),
            Verdict::kRegister);
}

TEST(WorkerTableTest, TheElderOfTwoOnCopiesOfAFolderIsRefused) {
  WorkerTable table({});
  Admit(table, FromFolder(1, 5, 5), 3, At(absl::ZeroDuration()));
  Admit(table, FromFolder(1, 6, 6), 4, At(absl::ZeroDuration()));
  const absl::Status refused = JudgeNow(table, FromFolder(1, 7, 5)).status();
  EXPECT_TRUE(absl::IsAlreadyExists(refused)) << refused;
  EXPECT_NE(refused.message().find("on a copy of this state folder"),
            std::string::npos);
  // A new boot of the process that has the name.
  EXPECT_EQ(*JudgeNow(table, FromFolder(1, 8, 6)), Verdict::kRegister);
}

TEST(WorkerTableTest, AWorkerWithoutAFolderNumberIsJudgedByItsConnection) {
  for (const uint64_t first : {0, 1}) {
    for (const uint64_t second : {0, 1}) {
      if (first == 1 && second == 1) continue;
      WorkerTable table({});
      Admit(table, FromFolder(first, 5, 0), 3, At(absl::ZeroDuration()));
      EXPECT_TRUE(absl::IsAlreadyExists(
          JudgeNow(table, FromFolder(second, 6, 0)).status()));
      ASSERT_TRUE(table.LoseStream("w", Boot(5), At(absl::Seconds(1))));
      EXPECT_EQ(*JudgeNow(table, FromFolder(second, 6, 0)), Verdict::kRegister);
    }
  }
}

}  // namespace
}  // namespace skerry::coordinator
