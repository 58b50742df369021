#include "coordinator/core/rules/state_view.h"

#include "coordinator/core/rules/exchange.h"
#include "coordinator/core/state/job_snapshot.h"
#include "coordinator/core/testing/job_bench.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using ::testing::ElementsAre;

void HoldBase(JobBench& bench, const std::string& name, uint64_t sequence,
              uint64_t hash) {
  FragmentFacts& fragment = bench.Fragment(name);
  fragment.bases.push_back(
      {Sequence(sequence), fragment.span_begin,
       std::vector<uint64_t>(fragment.anchor_hashes.size(), hash)});
}

// One sequence more, committed from w0's samples.
void Commit(JobBench& bench) {
  const uint64_t done = bench.job.fragments[0].newest().value();
  bench.Offer("w0", done + 1, done, {8 * done, 8 * done + 8});
  DecideExchange(bench.job, bench.decider());
  bench.Report("w0", 7);
  DecideExchange(bench.job, bench.decider());
  ASSERT_EQ(bench.job.fragments[0].newest().value(), done + 1);
}

absl::StatusOr<StateView> Locate(const JobBench& bench) {
  return LocateState(bench.job, bench.workers);
}

TEST(StateViewTest, NoBaseIsNoState) {
  JobBench bench;
  EXPECT_TRUE(absl::IsFailedPrecondition(Locate(bench).status()));
  bench.AddReplica("a", {"w0"});
  EXPECT_TRUE(absl::IsFailedPrecondition(Locate(bench).status()));
}

TEST(StateViewTest, TheNewestSequenceWithEverySpanIsTaken) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  Commit(bench);
  Commit(bench);
  bench.AddReplica("b", {"w1", "w2"});
  HoldBase(bench, "w1", 0, 5);
  HoldBase(bench, "w2", 0, 5);
  HoldBase(bench, "w1", 2, 6);
  auto view = Locate(bench);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->sequence, Sequence(0));
  EXPECT_EQ(view->samples_committed, 0u);
  HoldBase(bench, "w0", 1, 4);
  view = Locate(bench);
  EXPECT_EQ(view->sequence, Sequence(1));
  EXPECT_EQ(view->samples_committed, 8u);
  HoldBase(bench, "w2", 2, 6);
  view = Locate(bench);
  EXPECT_EQ(view->sequence, Sequence(2));
  ASSERT_EQ(view->pieces.size(), 8u);
  EXPECT_EQ(view->pieces[0].hash, 6u);
  EXPECT_THAT(view->pieces[0].workers, ElementsAre("w1"));
  EXPECT_THAT(view->pieces[7].workers, ElementsAre("w2"));
}

TEST(StateViewTest, EveryHolderOfASpanIsNamed) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddReplica("b", {"w1", "w2"});
  for (const char* name : {"w0", "w1", "w2"}) HoldBase(bench, name, 0, 5);
  const auto view = Locate(bench);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_THAT(view->pieces[3].workers, ElementsAre("w0", "w1"));
  EXPECT_THAT(view->pieces[4].workers, ElementsAre("w0", "w2"));
}

TEST(StateViewTest, WorkersThatAreSilentOrGoneHoldNothing) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddReplica("b", {"w1"});
  HoldBase(bench, "w0", 0, 5);
  HoldBase(bench, "w1", 0, 5);
  bench.workers.LoseStream("w0", bench.workers.FindCurrent("w0")->boot,
                           bench.now);
  EXPECT_THAT(Locate(bench)->pieces[0].workers, ElementsAre("w1"));
  bench.Emit(
      WorkerLeft{"w1", bench.workers.FindCurrent("w1")->incarnation, ""});
  EXPECT_FALSE(Locate(bench).ok());
}

TEST(StateViewTest, ASequenceWithTwoOpinionsIsPassedOver) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  Commit(bench);
  bench.AddReplica("b", {"w1"});
  HoldBase(bench, "w0", 0, 5);
  HoldBase(bench, "w0", 1, 6);
  EXPECT_EQ(Locate(bench)->sequence, Sequence(1));
  HoldBase(bench, "w1", 1, 7);
  EXPECT_EQ(Locate(bench)->sequence, Sequence(0));
}

TEST(StateViewTest, ASequenceThatIsNotCommittedIsNotBelieved) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  HoldBase(bench, "w0", 3, 5);
  EXPECT_FALSE(Locate(bench).ok());
}

TEST(StateViewTest, AStateBeforeTheOneThatTheJobWentBackToIsNone) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  Commit(bench);
  HoldBase(bench, "w0", 1, 4);
  ASSERT_TRUE(Locate(bench).ok());
  bench.job.restored = Restored{bench.job.id, Sequence(2), Sequence(1), ""};
  EXPECT_FALSE(Locate(bench).ok());
}

TEST(StateViewTest, TheSamplesOfAStateAreThoseOfItsCommitsAlone) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  Commit(bench);
  Commit(bench);
  HoldBase(bench, "w0", 1, 4);
  EXPECT_EQ(Locate(bench)->consumed, (data::RangeSet{{0, 8}}));
  HoldBase(bench, "w0", 2, 5);
  EXPECT_EQ(Locate(bench)->consumed, (data::RangeSet{{0, 16}}));
}

TEST(StateViewTest, SamplesOfCommitsThatAreNotKnownAreNotGuessed) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  Commit(bench);
  Commit(bench);
  // As after a snapshot of an older release.
  bench.job.coverage.GoBack({bench.job.ledger.consumed()});
  HoldBase(bench, "w0", 1, 4);
  EXPECT_TRUE(Locate(bench)->consumed.empty());
  EXPECT_EQ(Locate(bench)->samples_committed, 8u);
  HoldBase(bench, "w0", 2, 5);
  EXPECT_EQ(Locate(bench)->consumed, (data::RangeSet{{0, 16}}));
}

TEST(StateViewTest, ASnapshotKnowsTheSamplesOfItsNewestCommits) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  Commit(bench);
  Commit(bench);
  const JobSnapshot saved = SaveJob(bench.job);
  bench.job.coverage.GoBack({bench.job.ledger.consumed()});
  EXPECT_FALSE(TakenInAt(bench.job, Sequence(1)).has_value());
  JobState again(bench.job.id, saved.submitted, bench.options);
  ASSERT_TRUE(RestoreJob(again, saved).ok());
  EXPECT_EQ(TakenInAt(again, Sequence(1))->consumed.total(), 8u);
}

}  // namespace
}  // namespace skerry::coordinator
