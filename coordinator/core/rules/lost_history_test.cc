#include "coordinator/core/rules/lost_history.h"

#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using protocol::HeldBase;

class LostHistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    bench_.Size();
    bench_.Emit(Diverged{bench_.job.id, "w0", "ahead"});
    bench_.Emit(Adopted{bench_.job.id, {Sequence(4)}, "kept", {Attempt(40)}});
    since_ = Attempt(bench_.job.adopted_at.value());
  }
  // What is left of facts that show this base and this state.
  FragmentFacts Left(HeldBase base, Sequence applied, Attempt attempt) {
    JobFacts facts;
    FragmentFacts& fragment = facts.fragments.emplace_back();
    fragment.bases = {std::move(base)};
    fragment.applied = applied;
    fragment.applied_attempt = attempt;
    fragment.anchor_hashes = {1, 2};
    fragment.stored_through = applied;
    RemoveLost(bench_.job, facts);
    return facts.fragments[0];
  }

  JobBench bench_;
  Attempt since_;
};

TEST_F(LostHistoryTest, OrdersNameTheKeptState) {
  EXPECT_EQ(KeptIn(bench_.job, 0),
            (protocol::KeptState{Sequence(4), Attempt(40), since_}));
  EXPECT_EQ(KeptIn(JobBench().job, 0), protocol::KeptState());
}

TEST_F(LostHistoryTest, WhatIsLostIsNotThere) {
  // Numbers of attempts are those of records: the decision is a late one.
  ASSERT_GT(since_, Attempt(1));
  const Attempt old(since_.value() - 1);
  const FragmentFacts left = Left({Sequence(5), 0, {7}, old}, Sequence(6), old);
  EXPECT_TRUE(left.bases.empty());
  EXPECT_EQ(left.applied, Sequence());
  EXPECT_EQ(left.applied_attempt, Attempt());
  EXPECT_TRUE(left.anchor_hashes.empty());
  EXPECT_EQ(left.stored_through, Sequence());
}

TEST_F(LostHistoryTest, WhatWasMadeSinceStays) {
  const Attempt young(since_.value() + 1);
  const FragmentFacts left =
      Left({Sequence(5), 0, {7}, young}, Sequence(6), young);
  EXPECT_EQ(left.bases.size(), 1u);
  EXPECT_EQ(left.applied, Sequence(6));
  EXPECT_EQ(left.anchor_hashes.size(), 2u);
}

TEST_F(LostHistoryTest, AJobThatGoesBackKeepsTheDecision) {
  bench_.Emit(Diverged{bench_.job.id, "w0", "ahead"});
  bench_.Emit(
      Restored{bench_.job.id, Sequence(9), Sequence(), "back", {Sequence(9)}});
  EXPECT_EQ(KeptIn(bench_.job, 0),
            (protocol::KeptState{Sequence(4), Attempt(40), since_}));
}

}  // namespace
}  // namespace skerry::coordinator
