#include "coordinator/core/rules/exchange.h"

#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

void Advance(JobBench& bench, absl::Duration by) { bench.now = bench.now + by; }

// Three replicas of one worker each, ready with their first rounds.
struct Three : JobBench {
  explicit Three(job::JobSpec spec = job::SmallJob("bench", 1000))
      : JobBench(spec) {
    a = AddReplica("a", {"wa"});
    b = AddReplica("b", {"wb"});
    c = AddReplica("c", {"wc"});
    Offer("wa", 1, 0, {0, 8});
    Offer("wb", 1, 0, {16, 24});
    Offer("wc", 1, 0, {32, 40});
  }
  Life a, b, c;
};

TEST(ExchangeTest, OpensWithAllInReplicaOrderWhenEveryoneIsReady) {
  Three bench;
  DecideExchange(bench.job, bench.decider());
  const auto opened = bench.Decided<Opened>();
  ASSERT_EQ(opened.size(), 1u);
  ASSERT_EQ(opened[0].members.size(), 3u);
  EXPECT_EQ(opened[0].members[2].replica, ReplicaId(3));
  EXPECT_EQ(opened[0].total_weight, 24);
  EXPECT_EQ(opened[0].hops, Hops::kTwo);
  EXPECT_EQ(opened[0].owners.size(), 8u);
}

// 8 spans of 4096 values; two hops among three send 4/3 of them each.
TEST(ExchangeTest, TheReasonCountsTheBytesOfTheCodec) {
  const std::pair<const char*, const char*> cases[] = {
      {"raw_f32", "3 members: two hops send 0.1748 MB each, one hop 0.2621 MB"},
      {"bf16", "3 members: two hops send 0.08738 MB each, one hop 0.1311 MB"},
  };
  for (const auto& [codec, expected] : cases) {
    job::JobSpec spec = job::SmallJob("bench", 1000);
    spec.exchange.codec = codec;
    Three bench(spec);
    DecideExchange(bench.job, bench.decider());
    ASSERT_EQ(bench.Decided<Opened>().size(), 1u);
    EXPECT_NE(bench.Decided<Opened>()[0].reason.find(expected),
              std::string::npos)
        << bench.Decided<Opened>()[0].reason;
  }
}

// The hops between two replicas whose workers have measured that round trip.
Hops HopsOfTwo(const std::string& codec, double round_trip_s) {
  job::JobSpec spec = job::SmallJob("bench", 1000);
  spec.exchange.codec = codec;
  JobBench bench(spec);
  bench.AddReplica("a", {"wa"});
  bench.AddReplica("b", {"wb"});
  bench.Facts("wa").links = {{"wb", 1e9, 0.0, round_trip_s, 0.0}};
  bench.Facts("wb").links = {{"wa", 1e9, 0.0, round_trip_s / 2, 0.0}};
  bench.Offer("wa", 1, 0, {0, 8});
  bench.Offer("wb", 1, 0, {16, 24});
  DecideExchange(bench.job, bench.decider());
  EXPECT_EQ(bench.Decided<Opened>().size(), 1u);
  return bench.Decided<Opened>()[0].hops;
}

// 32768 values are 131 KB, and a disk takes 0.13 ms for them.
TEST(ExchangeTest, TwoThatSendUncodedTakeTwoHopsOverAShortLink) {
  EXPECT_EQ(HopsOfTwo("raw_f32", 1.3e-4), Hops::kTwo);
  EXPECT_EQ(HopsOfTwo("raw_f32", 1.4e-4), Hops::kOne);
  EXPECT_EQ(HopsOfTwo("raw_f32", 0), Hops::kOne) << "not measured";
  EXPECT_EQ(HopsOfTwo("bf16", 1.3e-4), Hops::kOne);
}

TEST(ExchangeTest, AReplicaThatComputesIsWaitedForUpToTheLongestWait) {
  Three bench;
  bench.Fragment("wc").ready.reset();
  DecideExchange(bench.job, bench.decider());
  EXPECT_TRUE(bench.Decided<Opened>().empty());
  Advance(bench, bench.options.lease);
  DecideExchange(bench.job, bench.decider());
  ASSERT_EQ(bench.Decided<Opened>().size(), 1u);
  EXPECT_EQ(bench.Decided<Opened>()[0].members.size(), 2u);
}

TEST(ExchangeTest, AReplicaWithoutSamplesIsNotWaitedFor) {
  Three bench;
  const Life idle = bench.AddReplica("d", {"wd"});
  // All that it held is dropped.
  const auto held = bench.job.ledger.LeasedTo(idle);
  bench.Emit(Dropped{bench.job.id, FragmentId(0), idle, Round(1), "", held});
  DecideExchange(bench.job, bench.decider());
  EXPECT_EQ(bench.Decided<Opened>().size(), 1u);
}

TEST(ExchangeTest, ASuspectedReplicaIsLeftOutAndCarried) {
  Three bench;
  bench.workers.LoseStream("wb", bench.workers.FindCurrent("wb")->boot,
                           bench.now);
  DecideExchange(bench.job, bench.decider());
  ASSERT_EQ(bench.Decided<Opened>().size(), 1u);
  EXPECT_EQ(bench.Decided<Opened>()[0].members.size(), 2u);
  EXPECT_TRUE(HasPending(bench.job, *bench.job.replicas.Find(bench.b)));
}

TEST(ExchangeTest, CommitsOnceWithTheWeightedLoss) {
  Three bench;
  bench.Fragment("wa").ready->scalars.loss = 5.0;
  DecideExchange(bench.job, bench.decider());
  for (const char* name : {"wa", "wb", "wc"}) bench.Report(name, 77);
  DecideExchange(bench.job, bench.decider());
  const auto commits = bench.Decided<Committed>();
  ASSERT_EQ(commits.size(), 1u);
  EXPECT_DOUBLE_EQ(commits[0].scalars.loss, 3.0);
  EXPECT_EQ(commits[0].scalars.delta_squared_norm, 4.0);
  // W ||D||^2 / sum(w ||d||^2), and no norm of a contribution is known here.
  EXPECT_EQ(commits[0].scalars.own_share, 1.0);
  EXPECT_EQ(bench.job.ledger.consumed().total(), 24u);
  DecideExchange(bench.job, bench.decider());
  EXPECT_EQ(bench.Decided<Committed>().size(), 1u);
}

TEST(ExchangeTest, ACommitSaysWhatShareOfItsOwnAMemberShouldExpect) {
  Three bench;
  for (const char* name : {"wa", "wb", "wc"}) {
    bench.Fragment(name).ready->scalars.delta_squared_norm = 6.0;
  }
  bench.Fragment("wc").ready->scalars.delta_squared_norm = 12.0;
  DecideExchange(bench.job, bench.decider());
  for (const char* name : {"wa", "wb", "wc"}) bench.Report(name, 77);
  DecideExchange(bench.job, bench.decider());
  ASSERT_EQ(bench.Decided<Committed>().size(), 1u);
  // 24 samples, a mean of squared norm 4, 8 samples each.
  EXPECT_DOUBLE_EQ(bench.Decided<Committed>()[0].scalars.own_share,
                   24 * 4.0 / (8 * (6.0 + 6.0 + 12.0)));
}

TEST(ExchangeTest, AReportOfAnotherAttemptOrLifeDoesNotCount) {
  Three bench;
  DecideExchange(bench.job, bench.decider());
  for (const char* name : {"wa", "wb", "wc"}) bench.Report(name, 77);
  bench.Fragment("wa").stored->attempt = Attempt(1);
  DecideExchange(bench.job, bench.decider());
  EXPECT_TRUE(bench.Decided<Committed>().empty());
  bench.Report("wa", 77);
  bench.Facts("wa").life = Life(1);
  DecideExchange(bench.job, bench.decider());
  EXPECT_TRUE(bench.Decided<Committed>().empty());
}

TEST(ExchangeTest, ADeadMemberKeepsItsPlaceInTheSum) {
  Three bench;
  DecideExchange(bench.job, bench.decider());
  for (const char* name : {"wa", "wb"}) bench.Report(name, 77);
  EndLife(bench.job, bench.decider(), bench.c, "gone");
  DecideExchange(bench.job, bench.decider());
  ASSERT_EQ(bench.Decided<Committed>().size(), 1u);
  EXPECT_TRUE(bench.job.ledger.consumed().Contains(32));
  EXPECT_TRUE(bench.job.ledger.free().Contains(40));
}

TEST(ExchangeTest, ALostMemberIsLeftOutAfterTheReconnectAllowance) {
  Three bench;
  DecideExchange(bench.job, bench.decider());
  EndLife(bench.job, bench.decider(), bench.c, "gone");
  DecideExchange(bench.job, bench.decider());
  EXPECT_EQ(bench.Decided<Opened>().size(), 1u);
  Advance(bench, bench.options.reconnect_allowance);
  DecideExchange(bench.job, bench.decider());
  const auto opened = bench.Decided<Opened>();
  ASSERT_EQ(opened.size(), 2u);
  EXPECT_EQ(opened[1].members.size(), 2u);
  EXPECT_EQ(opened[1].sequence, opened[0].sequence);
  EXPECT_TRUE(bench.job.ledger.free().Contains(32));
}

TEST(ExchangeTest, WhenAllAreSilentAtOnceTheDeadlineStays) {
  Three bench;
  DecideExchange(bench.job, bench.decider());
  for (const char* name : {"wa", "wb", "wc"}) {
    bench.workers.LoseStream(name, bench.workers.FindCurrent(name)->boot,
                             bench.now);
  }
  DecideExchange(bench.job, bench.decider());
  Advance(bench, absl::Seconds(1));
  DecideExchange(bench.job, bench.decider());
  EXPECT_EQ(bench.Decided<Opened>().size(), 1u);
}

TEST(ExchangeTest, ALoneMemberIsGivenMoreTimeInsteadOfANewAttempt) {
  JobBench bench;
  bench.AddReplica("a", {"wa"});
  bench.Offer("wa", 1, 0, {0, 8});
  DecideExchange(bench.job, bench.decider());
  Advance(bench, bench.options.lease);
  DecideExchange(bench.job, bench.decider());
  EXPECT_EQ(bench.Decided<Opened>().size(), 1u);
  bench.Report("wa", 7);
  DecideExchange(bench.job, bench.decider());
  EXPECT_EQ(bench.Decided<Committed>().size(), 1u);
}

TEST(ExchangeTest, AMinorityHashEndsItsLifeAndIsNotInTheNextAttempt) {
  Three bench;
  DecideExchange(bench.job, bench.decider());
  bench.Report("wa", 1);
  bench.Report("wb", 2);
  bench.Report("wc", 2);
  DecideExchange(bench.job, bench.decider());
  ASSERT_EQ(bench.Decided<ReplicaEnded>().size(), 1u);
  EXPECT_EQ(bench.Decided<ReplicaEnded>()[0].life, bench.a);
  EXPECT_TRUE(bench.Decided<Committed>().empty());
  EXPECT_EQ(bench.Decided<Opened>().back().members.size(), 2u);
}

TEST(ExchangeTest, ATieIsTriedOnceWithOtherOwnersThenTheLowestReplicaStays) {
  JobBench bench;
  const Life low = bench.AddReplica("a", {"wa"});
  const Life high = bench.AddReplica("b", {"wb"});
  bench.Offer("wa", 1, 0, {0, 8});
  bench.Offer("wb", 1, 0, {16, 24});
  for (int attempt = 1; attempt <= 2; ++attempt) {
    DecideExchange(bench.job, bench.decider());
    ASSERT_EQ(bench.Decided<Opened>().size(), static_cast<size_t>(attempt));
    bench.Report("wa", 1);
    bench.Report("wb", 2);
  }
  const auto opened = bench.Decided<Opened>();
  EXPECT_NE(opened[0].owners, opened[1].owners);
  DecideExchange(bench.job, bench.decider());
  ASSERT_EQ(bench.Decided<ReplicaEnded>().size(), 1u);
  EXPECT_EQ(bench.Decided<ReplicaEnded>()[0].life, high);
  EXPECT_EQ(bench.Decided<Opened>().back().members[0].life, low);
}

TEST(ExchangeTest, AContributionThatIsTooOldIsDroppedAndItsSamplesReturn) {
  job::JobSpec spec = job::SmallJob("bench", 1000);
  spec.exchange.carry = 0;
  JobBench bench(spec);
  bench.AddReplica("a", {"wa"});
  const Life slow = bench.AddReplica("b", {"wb"});
  bench.Offer("wa", 1, 0, {0, 8});
  Advance(bench, absl::Milliseconds(1));
  DecideExchange(bench.job, bench.decider());
  Advance(bench, bench.options.lease);
  DecideExchange(bench.job, bench.decider());
  bench.Report("wa", 7);
  bench.Offer("wb", 1, 0, {16, 24});
  DecideExchange(bench.job, bench.decider());
  DecideExchange(bench.job, bench.decider());
  const auto dropped = bench.Decided<Dropped>();
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(dropped[0].life, slow);
  EXPECT_TRUE(bench.job.ledger.free().Contains(16));
  EXPECT_FALSE(HasPending(bench.job, *bench.job.replicas.Find(slow)));
}

TEST(ExchangeTest, AReplicaWithoutALossDoesNotChangeTheMean) {
  Three bench;
  bench.Fragment("wa").ready->scalars.loss = 5.0;
  bench.Fragment("wb").ready->scalars.loss = 0;
  bench.Fragment("wb").ready->scalars.no_loss = true;
  bench.Fragment("wc").ready->scalars.loss = 4.0;
  DecideExchange(bench.job, bench.decider());
  for (const char* name : {"wa", "wb", "wc"}) bench.Report(name, 77);
  DecideExchange(bench.job, bench.decider());
  const auto commits = bench.Decided<Committed>();
  ASSERT_EQ(commits.size(), 1u);
  EXPECT_FALSE(commits[0].scalars.no_loss);
  EXPECT_DOUBLE_EQ(commits[0].scalars.loss, 4.5);
}

TEST(ExchangeTest, WithoutAnyLossTheCommitHasNone) {
  Three bench;
  for (const char* name : {"wa", "wb", "wc"}) {
    bench.Fragment(name).ready->scalars.no_loss = true;
  }
  DecideExchange(bench.job, bench.decider());
  for (const char* name : {"wa", "wb", "wc"}) bench.Report(name, 77);
  DecideExchange(bench.job, bench.decider());
  const auto commits = bench.Decided<Committed>();
  ASSERT_EQ(commits.size(), 1u);
  EXPECT_TRUE(commits[0].scalars.no_loss);
  EXPECT_EQ(commits[0].scalars.loss, 0);
}

TEST(ExchangeTest, SamplesThatTheLifeDoesNotHoldAreNotAdmitted) {
  JobBench bench;
  bench.AddReplica("a", {"wa"});
  bench.Offer("wa", 1, 0, {500, 508});
  DecideExchange(bench.job, bench.decider());
  EXPECT_TRUE(bench.Decided<Opened>().empty());
  ASSERT_EQ(bench.Decided<Dropped>().size(), 1u);
  EXPECT_TRUE(bench.Decided<Dropped>()[0].ranges.empty());
}

TEST(ExchangeTest, AReplicaIsReadyWhenAllItsWorkersAre) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0", "w1"});
  bench.Offer("w0", 1, 0, {0, 16});
  const Replica& replica = *bench.job.replicas.Find(life);
  EXPECT_EQ(OfferOf(bench.job, replica, bench.job.fragments[0]).kind,
            Offer::Kind::kPartial);
  bench.Offer("w1", 1, 0, {0, 16});
  const Offer offer = OfferOf(bench.job, replica, bench.job.fragments[0]);
  EXPECT_EQ(offer.kind, Offer::Kind::kComplete);
  EXPECT_EQ(offer.contribution.scalars.delta_squared_norm, 2.0);
  EXPECT_EQ(offer.contribution.scalars.loss, 2.0);
}

TEST(ExchangeTest, WorkersThatContradictEachOtherEndTheLife) {
  JobBench bench;
  bench.AddReplica("a", {"w0", "w1"});
  bench.Offer("w0", 1, 0, {0, 16});
  bench.Offer("w1", 1, 0, {0, 8});
  DecideExchange(bench.job, bench.decider());
  EXPECT_EQ(bench.Decided<ReplicaEnded>().size(), 1u);
  EXPECT_TRUE(bench.Decided<Opened>().empty());
}

TEST(ExchangeTest, FewerThanTheLeastNumberDoNotOpen) {
  job::JobSpec spec = job::SmallJob("bench", 1000);
  spec.exchange.min_replicas = 2;
  JobBench bench(spec);
  bench.AddReplica("a", {"wa"});
  bench.Offer("wa", 1, 0, {0, 8});
  DecideExchange(bench.job, bench.decider());
  EXPECT_TRUE(bench.Decided<Opened>().empty());
}

}  // namespace
}  // namespace skerry::coordinator
