// Jobs whose model is exchanged in several fragments.
#include "coordinator/core/rules/evaluations.h"
#include "coordinator/core/rules/exchange.h"
#include "coordinator/core/rules/grants.h"
#include "coordinator/core/rules/job_orders.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/rules/restore.h"
#include "coordinator/core/rules/state_view.h"
#include "coordinator/core/state/job_snapshot.h"
#include "coordinator/core/testing/job_bench.h"
#include "coordinator/core/views/job_view.h"
#include "gtest/gtest.h"
#include "job/review.h"

namespace skerry::coordinator {
namespace {

job::JobSpec FragmentedJob(uint32_t fragments, uint64_t samples = 1000) {
  job::JobSpec spec = job::SmallJob("bench", samples);
  spec.training.tau = 2 * fragments;
  spec.exchange.fragments = fragments;
  return spec;
}

// Two replicas of one worker each. Samples 0 to 16 are wa's, 16 to 32 wb's.
struct Two : JobBench {
  explicit Two(job::JobSpec spec = FragmentedJob(2))
      : JobBench(std::move(spec)) {
    a = AddReplica("a", {"wa"});
    b = AddReplica("b", {"wb"});
  }
  void Decide() { DecideExchange(job, decider()); }
  // wa alone offers it and commits.
  void CommitOfA(uint64_t fragment, uint64_t round, uint64_t base,
                 data::SampleRange range) {
    Offer("wa", round, base, range, fragment);
    now = now + options.lease;
    Decide();
    now = now + options.lease;
    Decide();
    ASSERT_TRUE(job.fragments[fragment].open().has_value());
    Report("wa", round, fragment);
    Decide();
    ASSERT_EQ(job.fragments[fragment].newest(), Sequence(base + 1));
    Fragment("wa", fragment).ready.reset();
    Fragment("wa", fragment).applied = Sequence(base + 1);
  }
  Life a, b;
};

TEST(FragmentsTest, ASpecSaysWhatDoesNotDivideTau) {
  job::JobSpec spec = FragmentedJob(3);
  spec.training.tau = 8;
  const auto reviewed = ReviewJobSpec(spec);
  ASSERT_FALSE(reviewed.ok());
  EXPECT_EQ(reviewed.status().message(),
            "exchange.fragments: does not divide training.tau, which is 8: "
            "each of 3 fragments has its turn once in so many inner steps; "
            "change one of the two");
  spec.exchange.fragments = 65;
  EXPECT_FALSE(ReviewJobSpec(spec).ok());
}

TEST(FragmentsTest, ASpecIsToldThatOnlyTheLastStateIsEvaluated) {
  job::JobSpec spec = FragmentedJob(3);
  spec.training.evaluate_every.reset();
  EXPECT_TRUE(ReviewJobSpec(spec)->warnings.empty());
  spec.training.evaluate_every = 5;
  const auto reviewed = ReviewJobSpec(spec);
  ASSERT_EQ(reviewed->warnings.size(), 1u);
  EXPECT_TRUE(reviewed->warnings[0].starts_with("training.evaluate_every: "));
  spec.exchange.fragments = 1;
  EXPECT_TRUE(ReviewJobSpec(spec)->warnings.empty());
}

TEST(FragmentsTest, EachFragmentHasItsOwnSpansAndSequences) {
  Two bench;
  EXPECT_EQ(bench.job.span_count, 4u);
  EXPECT_EQ(ElementsOf(bench.job, 1), 4u * 4096);
  bench.Offer("wa", 1, 0, {0, 8}, 1);
  bench.Offer("wb", 1, 0, {16, 24}, 1);
  bench.Decide();
  EXPECT_FALSE(bench.job.fragments[0].open().has_value());
  ASSERT_TRUE(bench.job.fragments[1].open().has_value());
  EXPECT_EQ(bench.job.fragments[1].open()->opened.owners.size(), 4u);
  bench.Report("wa", 7, 1);
  bench.Report("wb", 7, 1);
  bench.Decide();
  EXPECT_EQ(bench.job.fragments[1].newest(), Sequence(1));
  EXPECT_EQ(bench.job.fragments[0].newest(), Sequence(0));
  EXPECT_EQ(bench.job.State(), Sequence(1));
  EXPECT_EQ(bench.job.fragments[1].history().back().samples_committed, 16u);
}

TEST(FragmentsTest, ASampleEntersEveryFragmentAndIsConsumedOnce) {
  Two bench;
  bench.CommitOfA(0, 1, 0, {0, 8});
  EXPECT_EQ(bench.job.ledger.consumed().total(), 8u);
  // The second fragment's boundary comes later and covers more.
  bench.CommitOfA(1, 2, 0, {0, 16});
  EXPECT_EQ(bench.job.ledger.consumed().total(), 16u);
  EXPECT_EQ(bench.job.coverage.Partly().total(), 8u);
  bench.CommitOfA(0, 3, 1, {8, 16});
  EXPECT_TRUE(bench.job.coverage.Partly().empty());
  const AuditReport audit = bench.job.audit.Report();
  EXPECT_EQ(audit.samples_committed, 16u);
  EXPECT_EQ(audit.samples_partly, 0u);
  EXPECT_EQ(audit.fragments, 2u);
  EXPECT_TRUE(audit.doubled.empty());
  EXPECT_EQ(audit.commits, 3u);
}

TEST(FragmentsTest, WhatTheFragmentHasAlreadyIsDropped) {
  Two bench;
  bench.CommitOfA(0, 1, 0, {0, 8});
  bench.Offer("wa", 2, 1, {0, 16}, 0);
  bench.Decide();
  const auto dropped = bench.Decided<Dropped>();
  ASSERT_EQ(dropped.size(), 1u);
  // Samples 8 to 16 stay leased: the other fragment may still take in what was
  // learnt from them.
  EXPECT_EQ(bench.job.ledger.LeasedTo(bench.a).total(), 8u);
  EXPECT_EQ(bench.job.ledger.free().total(), 1000u - 32);
}

TEST(FragmentsTest, ALifeThatEndsLeavesItsHalfCommittedSamplesCounted) {
  Two bench;
  bench.CommitOfA(0, 1, 0, {0, 8});
  bench.Emit(ReplicaEnded{bench.job.id, bench.a, "killed"});
  EXPECT_EQ(bench.job.ledger.consumed().total(), 8u);
  EXPECT_EQ(bench.job.ledger.free().total(), 1000u - 8 - 16);
  EXPECT_FALSE(bench.job.ledger.AnyDue());
  EXPECT_EQ(bench.job.audit.Report().samples_partly, 8u);
  EXPECT_EQ(bench.job.audit.Report().samples_returned, 0u);
}

TEST(FragmentsTest, WhoWaitsForAnotherFragmentIsNotWaitedFor) {
  Two bench;
  bench.Offer("wa", 1, 0, {0, 8}, 0);
  bench.Decide();
  EXPECT_TRUE(bench.Decided<Opened>().empty());
  bench.Offer("wb", 1, 0, {16, 24}, 1);
  bench.Decide();
  EXPECT_EQ(bench.Decided<Opened>().size(), 2u);
}

TEST(FragmentsTest, WhoDoesNotWaitIsWaitedForInEveryFragment) {
  job::JobSpec spec = FragmentedJob(2);
  spec.outer.method = job::OuterMethod::kCo2;
  spec.outer.undelayed_fraction = 0;
  Two bench(spec);
  bench.Offer("wa", 1, 0, {0, 8}, 0);
  bench.Offer("wb", 1, 0, {16, 24}, 1);
  bench.Decide();
  EXPECT_TRUE(bench.Decided<Opened>().empty());
}

// Each alone is too few, and neither comes to the other's fragment by itself.
TEST(FragmentsTest, TwoThatWaitForEachOtherDeliverMore) {
  job::JobSpec spec = FragmentedJob(2);
  spec.exchange.min_replicas = 2;
  Two bench(spec);
  bench.Offer("wa", 1, 0, {0, 8}, 0);
  bench.Offer("wb", 1, 0, {16, 24}, 1);
  bench.Decide();
  EXPECT_TRUE(bench.Decided<Opened>().empty());
  const auto orders =
      JobOrdersWriter(bench.job, bench.workers, bench.options, bench.now)
          .For("wa");
  EXPECT_FALSE(orders->fragments[0].wanted);
  EXPECT_TRUE(orders->fragments[1].wanted);
  EXPECT_TRUE(bench.job.touched.contains("wa"));
  bench.Offer("wa", 2, 0, {0, 8}, 1);
  bench.Decide();
  EXPECT_EQ(bench.Decided<Opened>().size(), 1u);
  EXPECT_TRUE(bench.job.fragments[1].open().has_value());
}

TEST(FragmentsTest, WhileItTrainsNobodyCanReadTheWholeState) {
  Two bench;
  const auto refused = FindWholeState(bench.job, bench.workers);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()));
  EXPECT_TRUE(refused.status().message().find("fragments") !=
              std::string_view::npos);
}

TEST(FragmentsTest, ARoundIsTauOverTheFragments) {
  Two bench(FragmentedJob(4));
  // Two rounds ahead: two times two steps of four samples.
  bench.Emit(Dropped{bench.job.id, FragmentId(0), bench.a, Round(1), "", {}});
  DecideGrants(bench.job, bench.decider());
  EXPECT_EQ(bench.job.ledger.LeasedTo(bench.a).total(), 16u);
}

TEST(FragmentsTest, AJoinerTakesOverWhenItIsLevelInEveryFragment) {
  Two bench;
  bench.CommitOfA(1, 1, 0, {0, 16});
  bench.AddWorker("wc", "a");
  DecideMembership(bench.job, bench.decider());
  JobFacts& facts = bench.Facts("wc");
  facts.state = protocol::SeatState::kRecovering;
  facts.life = Life();
  const SpanHolder holder = bench.job.places.at("a").holders[1];
  for (uint64_t f = 0; f < 2; ++f) {
    FragmentFacts& fragment = bench.Fragment("wc", f);
    fragment.span_begin = holder.span_begin;
    fragment.anchor_hashes.assign(holder.span_end - holder.span_begin, 5);
  }
  DecideMembership(bench.job, bench.decider());
  EXPECT_NE(bench.job.replicas.Find(bench.a), nullptr);
  bench.Fragment("wc", 1).applied = Sequence(1);
  DecideMembership(bench.job, bench.decider());
  EXPECT_EQ(bench.job.replicas.Find(bench.a), nullptr);
}

TEST(FragmentsTest, TheJobEndsWhenEveryFragmentHasAllOfIt) {
  Two bench(FragmentedJob(2, 32));
  bench.Emit(ReplicaEnded{bench.job.id, bench.b, "gone"});
  bench.Emit(Granted{bench.job.id, bench.a, {{16, 32}}});
  bench.CommitOfA(0, 1, 0, {0, 32});
  EXPECT_TRUE(bench.job.ledger.AllConsumed());
  EXPECT_FALSE(bench.job.Trained());
  DecideEvaluations(bench.job, bench.decider());
  EXPECT_FALSE(EvaluationOrderFor(bench.job, "wa").has_value());
  EXPECT_TRUE(
      JobOrdersWriter(bench.job, bench.workers, bench.options, bench.now)
          .For("wa")
          ->nothing_left);
  bench.CommitOfA(1, 2, 0, {0, 32});
  EXPECT_TRUE(bench.job.Trained());
  DecideEvaluations(bench.job, bench.decider());
  const auto order = EvaluationOrderFor(bench.job, "wa");
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->sequence, Sequence(2));
}

void HoldBases(JobBench& bench, uint64_t fragment,
               std::vector<uint64_t> sequences) {
  auto& bases = bench.Fragment("wa", fragment).bases;
  bases.clear();
  for (const uint64_t sequence : sequences) {
    bases.push_back({Sequence(sequence), 0, {sequence, 2, 3, 4}});
  }
}

TEST(FragmentsTest, AStateIsOneCutThroughAllFragments) {
  Two bench;
  bench.CommitOfA(0, 1, 0, {0, 4});   // state 1
  bench.CommitOfA(1, 2, 0, {0, 8});   // state 2
  bench.CommitOfA(0, 3, 1, {4, 12});  // state 3
  bench.CommitOfA(0, 4, 2, {12, 16});
  HoldBases(bench, 0, {1, 3});
  HoldBases(bench, 1, {0});
  // Sequence 3 of the first was never beside 0 of the second.
  const auto state = LocateState(bench.job, bench.workers);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->sequence, Sequence(1));
  EXPECT_EQ(state->fragment_sequences,
            (std::vector<Sequence>{Sequence(1), Sequence(0)}));
  EXPECT_EQ(state->samples_committed, 4u);
  EXPECT_EQ(state->pieces.size(), 8u);
  HoldBases(bench, 1, {0, 1});
  EXPECT_EQ(LocateState(bench.job, bench.workers)->sequence, Sequence(4));
  EXPECT_EQ(SequencesAt(bench.job, Sequence(2)),
            (std::vector<Sequence>{Sequence(1), Sequence(1)}));
  const auto taken = TakenInAt(bench.job, Sequence(3));
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->consumed.total(), 12u);
  EXPECT_EQ(taken->lacking[1].total(), 4u);
}

// Whatever is open in another fragment: they will come to this one's turn.
TEST(FragmentsTest, LivesThatWaitForALostResultOfOneFragmentEnd) {
  job::JobSpec spec = FragmentedJob(2);
  spec.checkpoint = job::JobSpec::Checkpoints{"/checkpoints", 1, 3};
  Two bench(spec);
  bench.CommitOfA(1, 1, 0, {0, 8});
  bench.Offer("wa", 2, 0, {0, 8}, 0);
  bench.now = bench.now + bench.options.lease;
  bench.Decide();
  bench.now = bench.now + bench.options.lease;
  bench.Decide();
  ASSERT_TRUE(bench.job.fragments[0].open().has_value());
  for (const char* name : {"wa", "wb"}) {
    FragmentFacts& facts = bench.Fragment(name, 1);
    facts.anchor_hashes.assign(bench.job.span_count, 5);
    facts.applied = Sequence();
  }
  bench.Fragment("wa", 1).stored_through = Sequence(1);
  for (int i = 0; i < 2; ++i) {
    DecideRestore(bench.job, bench.decider());
    bench.now = bench.now + bench.options.restore_wait;
  }
  EXPECT_EQ(bench.job.replicas.current().size(), 2u);
  bench.Fragment("wa", 1).stored_through = Sequence();
  for (int i = 0; i < 2; ++i) {
    DecideRestore(bench.job, bench.decider());
    bench.now = bench.now + bench.options.restore_wait;
  }
  EXPECT_TRUE(bench.job.replicas.current().empty());
  const auto ended = bench.Decided<ReplicaEnded>();
  EXPECT_EQ(ended.back().reason,
            "no worker that is there has spans 0 to 4 of fragment 1 at "
            "sequence 1");
}

// Makes the same as Two, for a job that saves checkpoints.
struct SavedTwo : Two {
  SavedTwo() : Two(Spec()) {}
  static job::JobSpec Spec() {
    job::JobSpec spec = FragmentedJob(2);
    spec.checkpoint = job::JobSpec::Checkpoints{"/checkpoints", 1, 3};
    return spec;
  }
  // Fragment 0 commits 4 samples and the state is saved. Fragment 1 commits 8,
  // both lives end, and the job goes back to what was saved.
  void GoBack() {
    CommitOfA(0, 1, 0, {0, 4});
    Emit(Checkpointed{job.id,
                      Sequence(1),
                      "wa",
                      std::string(64, 'b'),
                      9,
                      "",
                      {{0, 4}},
                      {{}, {{0, 4}}}});
    CommitOfA(1, 2, 0, {0, 8});
    Emit(ReplicaEnded{job.id, a, "lost"});
    Emit(ReplicaEnded{job.id, b, "lost"});
    Emit(Restored{job.id, Sequence(4), Sequence(1), "why"});
  }
};

TEST(FragmentsTest, OneRecordTakesAllFragmentsBackToOneCut) {
  SavedTwo bench;
  bench.GoBack();
  EXPECT_EQ(bench.job.State(), Sequence(4));
  EXPECT_EQ(bench.job.fragments[0].floor(), Sequence(2));
  EXPECT_EQ(bench.job.fragments[1].floor(), Sequence(2));
  EXPECT_EQ(bench.job.ledger.consumed().total(), 4u);
  EXPECT_EQ(bench.job.audit.Report().samples_partly, 4u);
  EXPECT_EQ(bench.job.fragments[1].history().back().samples_committed, 0u);
  const auto state = RestoredStateOf(bench.job);
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->fragment_sequences,
            (std::vector<Sequence>{Sequence(2), Sequence(2)}));
  JobState again(bench.job.id, SaveJob(bench.job).submitted, bench.options);
  ASSERT_TRUE(RestoreJob(again, SaveJob(bench.job)).ok());
  StateHasher before, after;
  HashInto(bench.job, before);
  HashInto(again, after);
  EXPECT_EQ(before.value(), after.value());
  EXPECT_EQ(again.keep_from[1], Sequence(2));
}

// A curve of losses would go on at the sample that the job has left.
TEST(FragmentsTest, LossesGoBackWithTheJob) {
  SavedTwo bench;
  bench.GoBack();
  bench.a = bench.AddReplica("a", {"wa"});
  bench.Fragment("wa", 0).applied = bench.Fragment("wa", 1).applied =
      Sequence(2);
  const uint64_t first = bench.job.ledger.LeasedTo(bench.a).ranges()[0].begin;
  bench.CommitOfA(0, 1, 2, {first, first + 2});
  const JobView view = ViewOf(bench.job, bench.workers, bench.options, Turn(),
                              Revision(1), bench.now);
  std::vector<uint64_t> samples;
  for (const LossPoint& point : view.losses) samples.push_back(point.samples);
  // 8 would be what fragment 1 had before.
  EXPECT_EQ(samples, (std::vector<uint64_t>{4, 8, 6}));
}

}  // namespace
}  // namespace skerry::coordinator
