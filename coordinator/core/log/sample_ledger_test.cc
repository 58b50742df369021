#include "coordinator/core/log/sample_ledger.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

constexpr Life kFirst{1};
constexpr Life kSecond{2};
constexpr FragmentId kOnly{0};
constexpr FragmentId kOther{1};

data::RangeSet Set(uint64_t begin, uint64_t end) {
  return data::RangeSet(data::SampleRange{begin, end});
}

TEST(SampleLedgerTest, ALeasedSampleIsNotGrantedTwice) {
  SampleLedger ledger(10);
  ASSERT_TRUE(ledger.Grant(kFirst, Set(0, 4)).ok());
  EXPECT_EQ(ledger.Grant(kSecond, Set(3, 5)).code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(ledger.Pick(kSecond, 2), Set(4, 6));
}

TEST(SampleLedgerTest, OnlyTheHolderCanCommitASample) {
  SampleLedger ledger(10);
  ASSERT_TRUE(ledger.Grant(kFirst, Set(0, 4)).ok());
  EXPECT_FALSE(ledger.Consume(kSecond, kOnly, Set(0, 4)).ok());
  EXPECT_TRUE(ledger.Consume(kFirst, kOnly, Set(0, 4)).ok());
  EXPECT_FALSE(ledger.Consume(kFirst, kOnly, Set(0, 4)).ok());
}

TEST(SampleLedgerTest, AnEndedLifeReturnsAllButWhatTheAttemptNames) {
  SampleLedger ledger(10);
  ASSERT_TRUE(ledger.Grant(kFirst, Set(0, 8)).ok());
  ledger.End(kFirst, Set(0, 4));
  EXPECT_EQ(ledger.free(), Set(4, 10));
  ASSERT_TRUE(ledger.Consume(kFirst, kOnly, Set(0, 4)).ok());
  ledger.CheckInvariants();
  EXPECT_EQ(ledger.consumed(), Set(0, 4));
}

TEST(SampleLedgerTest, TheAttemptThatLeavesAnEndedLifeOutFreesItsSamples) {
  SampleLedger ledger(10);
  ASSERT_TRUE(ledger.Grant(kFirst, Set(0, 4)).ok());
  ASSERT_TRUE(ledger.Grant(kSecond, Set(4, 8)).ok());
  ledger.End(kFirst, Set(0, 4));
  ledger.KeepNamed(Set(4, 8));
  EXPECT_EQ(ledger.LeasedTo(kSecond), Set(4, 8));
  EXPECT_TRUE(ledger.free().ContainsAll(Set(0, 4)));
}

TEST(SampleLedgerTest, DroppedSamplesGoToOtherLivesOnly) {
  SampleLedger ledger(4);
  ASSERT_TRUE(ledger.Grant(kFirst, Set(0, 4)).ok());
  ASSERT_TRUE(ledger.Return(kFirst, kOnly, Set(0, 4)).ok());
  EXPECT_TRUE(ledger.Pick(kFirst, 4).empty());
  EXPECT_TRUE(ledger.HasFreeDroppedBy(kFirst));
  EXPECT_EQ(ledger.Pick(kSecond, 4), Set(0, 4));
  ledger.CheckInvariants();
}

TEST(SampleLedgerTest, WhatWasConsumedBeforeIsNeverGranted) {
  SampleLedger ledger(10, Set(0, 6).Union(Set(8, 9)));
  ledger.CheckInvariants();
  EXPECT_EQ(ledger.consumed().total(), 7u);
  EXPECT_EQ(ledger.Pick(kFirst, 10), Set(6, 8).Union(Set(9, 10)));
  EXPECT_FALSE(ledger.Grant(kFirst, Set(5, 7)).ok());
}

// --- Two fragments.

SampleLedger OfTwo() { return SampleLedger(10, {}, 2); }

TEST(SampleLedgerTest, WhatOneFragmentCommitsIsDueInTheOther) {
  SampleLedger ledger = OfTwo();
  ASSERT_TRUE(ledger.Grant(kFirst, Set(0, 4)).ok());
  ASSERT_TRUE(ledger.Consume(kFirst, kOnly, Set(0, 4)).ok());
  EXPECT_EQ(ledger.consumed(), Set(0, 4));
  EXPECT_TRUE(ledger.HasDue(kFirst));
  EXPECT_TRUE(ledger.Deliverable(kFirst, kOnly).empty());
  EXPECT_EQ(ledger.Deliverable(kFirst, kOther), Set(0, 4));
  EXPECT_FALSE(ledger.Consume(kFirst, kOnly, Set(0, 4)).ok());
  ASSERT_TRUE(ledger.Consume(kFirst, kOther, Set(0, 4)).ok());
  EXPECT_FALSE(ledger.AnyDue());
  EXPECT_EQ(ledger.consumed(), Set(0, 4));
  ledger.CheckInvariants();
}

TEST(SampleLedgerTest, WhatALifeLeavesHalfCommittedIsNotTrainedAgain) {
  SampleLedger ledger = OfTwo();
  ASSERT_TRUE(ledger.Grant(kFirst, Set(0, 8)).ok());
  ASSERT_TRUE(ledger.Consume(kFirst, kOnly, Set(0, 4)).ok());
  ledger.End(kFirst, {});
  EXPECT_FALSE(ledger.AnyDue());
  EXPECT_EQ(ledger.consumed(), Set(0, 4));
  EXPECT_EQ(ledger.free(), Set(4, 10));
}

TEST(SampleLedgerTest, AnAttemptThatOutlivesItsMemberConsumesTheRest) {
  SampleLedger ledger = OfTwo();
  ASSERT_TRUE(ledger.Grant(kFirst, Set(0, 8)).ok());
  ASSERT_TRUE(ledger.Consume(kFirst, kOnly, Set(0, 4)).ok());
  ledger.End(kFirst, Set(0, 6));
  EXPECT_EQ(ledger.free(), Set(6, 10));
  ASSERT_TRUE(ledger.Consume(kFirst, kOther, Set(0, 6)).ok());
  EXPECT_EQ(ledger.consumed(), Set(0, 6));
  ledger.CheckInvariants();
}

TEST(SampleLedgerTest, ADropReturnsWhatNoFragmentCanCommitAnyMore) {
  SampleLedger ledger = OfTwo();
  ASSERT_TRUE(ledger.Grant(kFirst, Set(0, 8)).ok());
  ASSERT_TRUE(ledger.Return(kFirst, kOnly, Set(0, 4)).ok());
  EXPECT_EQ(ledger.free(), Set(8, 10));
  EXPECT_EQ(ledger.Missed(kFirst), Set(0, 4));
  EXPECT_EQ(ledger.Deliverable(kFirst, kOnly), Set(4, 8));
  // The other fragment commits a part of it, and drops the rest.
  ASSERT_TRUE(ledger.Consume(kFirst, kOther, Set(0, 2)).ok());
  EXPECT_FALSE(ledger.HasDue(kFirst));
  ASSERT_TRUE(ledger.Return(kFirst, kOther, Set(2, 6)).ok());
  EXPECT_EQ(ledger.free().total(), 4u);
  EXPECT_TRUE(ledger.free().ContainsAll(Set(2, 4)));
  EXPECT_EQ(ledger.LeasedTo(kFirst), Set(4, 8));
  EXPECT_EQ(ledger.Pick(kFirst, 10), Set(8, 10));
  ledger.CheckInvariants();
}

TEST(SampleLedgerTest, ASnapshotKnowsWhatIsDue) {
  SampleLedger ledger = OfTwo();
  ASSERT_TRUE(ledger.Grant(kFirst, Set(0, 8)).ok());
  ASSERT_TRUE(ledger.Consume(kFirst, kOnly, Set(0, 4)).ok());
  ASSERT_TRUE(ledger.Return(kFirst, kOther, Set(2, 6)).ok());
  SampleLedger again = OfTwo();
  ASSERT_TRUE(again.Restore(ledger.Save()).ok());
  EXPECT_EQ(again.Save(), ledger.Save());
  EXPECT_EQ(again.Deliverable(kFirst, kOther),
            data::RangeSet(std::vector<data::SampleRange>{{0, 2}, {6, 8}}));
  SampleLedger of_one(10);
  EXPECT_FALSE(of_one.Restore(ledger.Save()).ok());
}

}  // namespace
}  // namespace skerry::coordinator
