#include "worker/daemon/job_start.h"

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

StoredFile Base(uint64_t sequence, uint32_t fragment = 0) {
  StoredFile file;
  file.kind = PieceKey::Kind::kBase;
  file.sequence = Sequence(sequence);
  file.fragment = fragment;
  return file;
}

v1::JobOrders WentBack(uint64_t sequence, uint64_t checkpoint) {
  v1::JobOrders orders;
  v1::RestoredState* restored = orders.mutable_restored();
  restored->set_sequence(sequence);
  restored->set_checkpoint(checkpoint);
  if (checkpoint > 0) restored->set_sha256("abc");
  return orders;
}

TEST(JobStartTest, AJobOfItsOwnNeedsNoCheckpoint) {
  EXPECT_FALSE(JobStart(v1::JobOrders()).NeedsCheckpoint({}));
}

TEST(JobStartTest, AJobThatStartsFromACheckpointNeedsItOnce) {
  v1::JobOrders orders;
  orders.mutable_spec()->mutable_model()->mutable_checkpoint()->set_path("/c");
  EXPECT_TRUE(JobStart(orders).NeedsCheckpoint({}));
  EXPECT_FALSE(JobStart(orders).NeedsCheckpoint({Base(0)}));
}

TEST(JobStartTest, OneThatWentBackNeedsItUnlessTheDiskHasThatStateOrALaterOne) {
  const JobStart start(WentBack(9, 4));
  EXPECT_TRUE(start.NeedsCheckpoint({}));
  EXPECT_TRUE(start.NeedsCheckpoint({Base(8)}));
  EXPECT_FALSE(start.NeedsCheckpoint({Base(9)}));
  EXPECT_FALSE(start.NeedsCheckpoint({Base(12)}));
}

TEST(JobStartTest, OneThatWentBackToItsBeginningReadsNothing) {
  const JobStart start(WentBack(9, 0));
  EXPECT_FALSE(start.NeedsCheckpoint({}));
  ASSERT_EQ(start.at().size(), 1u);
  EXPECT_EQ(start.at()[0], Sequence(9));
}

TEST(JobStartTest, WhatNobodyKeepsAnyMoreIsOfNoUse) {
  v1::JobOrders orders = WentBack(9, 4);
  v1::FragmentOrders* fragment = orders.add_fragments();
  fragment->set_keep_from(10);
  EXPECT_FALSE(JobStart(orders).NeedsCheckpoint({}));
  fragment->set_keep_from(9);
  EXPECT_TRUE(JobStart(orders).NeedsCheckpoint({}));
}

TEST(JobStartTest, FragmentsAreStoredTogether) {
  v1::JobOrders orders = WentBack(9, 4);
  orders.mutable_spec()->mutable_exchange()->set_fragments(2);
  orders.mutable_restored()->add_fragment_sequences(5);
  orders.mutable_restored()->add_fragment_sequences(4);
  const JobStart start(orders);
  EXPECT_EQ(start.at(), (std::vector<Sequence>{Sequence(5), Sequence(4)}));
  EXPECT_TRUE(start.NeedsCheckpoint({Base(5)}));
  EXPECT_FALSE(start.NeedsCheckpoint({Base(5), Base(4, 1)}));
}

}  // namespace
}  // namespace skerry::worker
