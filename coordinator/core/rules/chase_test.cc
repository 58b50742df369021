#include "coordinator/core/rules/chase.h"

#include "coordinator/core/rules/membership.h"
#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using protocol::SeatState;

class ChaseTest : public testing::Test {
 protected:
  ChaseTest() {
    bench_.AddReplica("a", {"w0"});
    bench_.AddWorker("w1", "b");
    DecideMembership(bench_.job, bench_.decider());
    bench_.Facts("w1").state = SeatState::kRecovering;
  }
  // So many more commits of w0 alone.
  void Commit(uint64_t count) {
    for (; count > 0; --count) {
      const Sequence next = Next(bench_.job.fragments[0].newest());
      Opened open;
      open.job = bench_.job.id;
      open.sequence = next;
      Member member;
      member.replica = ReplicaId(1);
      member.life = bench_.job.replicas.current().begin()->first;
      member.contribution.round = Round(next.value());
      open.members = {member};
      open.owners.assign(8, 0);
      open.total_weight = 1;
      const Attempt attempt(bench_.Emit(open));
      bench_.Emit(Committed{bench_.job.id,
                            {},
                            next,
                            attempt,
                            std::vector<uint64_t>(8, 7),
                            1,
                            {}});
    }
  }
  void Follow(uint64_t behind) {
    bench_.Fragment("w1").applied =
        Sequence(bench_.job.State().value() - behind);
    DecideMembership(bench_.job, bench_.decider());
  }
  void Wait(int rests = 1) {
    bench_.now = bench_.now + rests * bench_.options.takeover_wait / 4;
  }
  bool Awaits() { return AwaitsJoiner(bench_.job, bench_.options, bench_.now); }

  JobBench bench_;
};

TEST_F(ChaseTest, WhoGainsIsNotWaitedFor) {
  Commit(50);
  Follow(40);
  Commit(4);
  Follow(39);
  EXPECT_FALSE(Awaits());
}

TEST_F(ChaseTest, TimeAloneShowsNothing) {
  Commit(50);
  Follow(40);
  Wait(100);
  Commit(3);
  Follow(43);
  EXPECT_FALSE(Awaits());
}

TEST_F(ChaseTest, WhoDoesNotGainIsWaitedForAsLongAsItGainsThen) {
  Commit(50);
  Follow(40);
  Commit(4);
  Follow(40);
  EXPECT_TRUE(Awaits());
  for (uint64_t behind = 39; behind > 35; --behind) {
    bench_.now = bench_.now + bench_.options.takeover_wait / 5;
    Follow(behind);
    EXPECT_TRUE(Awaits());
  }
  Wait();
  EXPECT_FALSE(Awaits());
}

TEST_F(ChaseTest, WhoIsStuckIsNotWaitedForAgainForLong) {
  Commit(50);
  Follow(40);
  Commit(4);
  Follow(40);
  Wait();
  Follow(40);
  Wait(19);
  Commit(50);
  Follow(60);
  EXPECT_FALSE(Awaits());
  Wait();
  Follow(60);
  Commit(4);
  Follow(64);
  EXPECT_TRUE(Awaits());
}

TEST_F(ChaseTest, WhoIsFarBehindIsWaitedForToo) {
  Commit(2000);
  Follow(1500);
  EXPECT_FALSE(Awaits());
  Commit(4);
  Follow(1504);
  EXPECT_TRUE(Awaits());
}

// Were it waited for without end, one that takes an hour would cost an hour at
// once; were it always for as long, it would never be level.
TEST_F(ChaseTest, WhoGainsIsWaitedForTwiceAsLongEachTime) {
  Commit(20000);
  uint64_t behind = 15000;
  Follow(behind);
  const absl::Duration step = bench_.options.takeover_wait / 10;
  for (const int steps : {20, 40, 80}) {
    Commit(4);
    behind += 4;
    Follow(behind);
    for (int at = 0; at < steps; ++at) {
      ASSERT_TRUE(Awaits()) << at << " of " << steps;
      bench_.now = bench_.now + step;
      Follow(--behind);
    }
    EXPECT_FALSE(Awaits()) << steps;
    // It is not even looked at for twenty times as long.
    bench_.now = bench_.now + (20 * steps - 1) * step;
    Commit(4);
    behind += 4;
    Follow(behind);
    Commit(4);
    behind += 4;
    Follow(behind);
    EXPECT_FALSE(Awaits()) << steps;
    bench_.now = bench_.now + step;
    Follow(behind);
  }
}

// Its island goes on training without it.
TEST_F(ChaseTest, WhoJoinsARunningReplicaIsWaitedForAndThenTakesOver) {
  const Life old = bench_.job.replicas.current().begin()->first;
  bench_.AddWorker("w2", "a");
  DecideMembership(bench_.job, bench_.decider());
  bench_.Facts("w2").state = SeatState::kRecovering;
  FragmentFacts& facts = bench_.Fragment("w2");
  facts.span_begin = 4;
  facts.anchor_hashes.assign(4, 7);
  const auto follow = [&](uint64_t behind) {
    facts.applied = Sequence(bench_.job.State().value() - behind);
    DecideMembership(bench_.job, bench_.decider());
  };
  Commit(50);
  bench_.Offer("w0", 51, 50, {0, 8});
  follow(2);
  EXPECT_FALSE(Awaits());
  Commit(4);
  bench_.Offer("w0", 55, 54, {0, 8});
  follow(2);
  EXPECT_TRUE(Awaits());
  EXPECT_NE(bench_.job.replicas.Find(old), nullptr);
  follow(0);
  // What is pending is given up for it.
  EXPECT_EQ(bench_.job.replicas.Find(old), nullptr);
}

}  // namespace
}  // namespace skerry::coordinator
