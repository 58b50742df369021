#include "worker/daemon/job_start.h"

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using protocol::JobOrders;

StoredFile Base(uint64_t sequence, uint32_t fragment = 0) {
  StoredFile file;
  file.kind = PieceKey::Kind::kBase;
  file.sequence = Sequence(sequence);
  file.fragment = fragment;
  return file;
}

JobOrders WentBack(uint64_t sequence, uint64_t checkpoint) {
  JobOrders orders;
  orders.restored = protocol::RestoredState{
      Sequence(sequence), Sequence(checkpoint), checkpoint > 0 ? "abc" : ""};
  return orders;
}

TEST(JobStartTest, AJobOfItsOwnNeedsNoCheckpoint) {
  EXPECT_FALSE(JobStart(JobOrders()).NeedsCheckpoint({}));
}

TEST(JobStartTest, AJobThatStartsFromACheckpointNeedsItOnce) {
  JobOrders orders;
  job::JobSpec::Checkpoint checkpoint;
  checkpoint.path = "/c";
  orders.spec.model.checkpoint = checkpoint;
  EXPECT_TRUE(JobStart(orders).NeedsCheckpoint({}));
  EXPECT_FALSE(JobStart(orders).NeedsCheckpoint({Base(0)}));
}

TEST(JobStartTest, AJobGoesOnFromACheckpointUnlessItTakesItForItsWeights) {
  JobOrders orders;
  EXPECT_FALSE(JobStart(orders).GoesOn());
  job::JobSpec::Checkpoint checkpoint;
  checkpoint.samples = job::Samples::kAnew;
  orders.spec.model.checkpoint = checkpoint;
  EXPECT_FALSE(JobStart(orders).GoesOn());
  orders.spec.model.checkpoint->samples = job::Samples::kGoOn;
  EXPECT_TRUE(JobStart(orders).GoesOn());
  EXPECT_TRUE(JobStart(WentBack(9, 4)).GoesOn());
  EXPECT_FALSE(JobStart(WentBack(9, 0)).GoesOn());
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

TEST(JobStartTest, TheCheckpointThatTheJobWentBackToIsRead) {
  JobOrders orders = WentBack(9, 4);
  orders.restored->sha256 = "ab";
  orders.spec.checkpoint.emplace().directory = "/saved";
  const job::JobSpec read = JobStart(orders).SpecToRead(orders.spec);
  EXPECT_EQ(read.model.checkpoint->path, "/saved");
  EXPECT_EQ(read.model.checkpoint->name, "checkpoint-4");
  EXPECT_EQ(read.model.checkpoint->sha256, "ab");
  EXPECT_EQ(JobStart(JobOrders()).SpecToRead(orders.spec), orders.spec);
}

TEST(JobStartTest, WhatNobodyKeepsAnyMoreIsOfNoUse) {
  JobOrders orders = WentBack(9, 4);
  protocol::FragmentOrders& fragment = orders.fragments.emplace_back();
  fragment.keep_from = Sequence(10);
  EXPECT_FALSE(JobStart(orders).NeedsCheckpoint({}));
  fragment.keep_from = Sequence(9);
  EXPECT_TRUE(JobStart(orders).NeedsCheckpoint({}));
}

TEST(JobStartTest, FragmentsAreStoredTogether) {
  JobOrders orders = WentBack(9, 4);
  orders.spec.exchange.fragments = 2;
  orders.restored->fragment_sequences = {Sequence(5), Sequence(4)};
  const JobStart start(orders);
  EXPECT_EQ(start.at(), (std::vector<Sequence>{Sequence(5), Sequence(4)}));
  EXPECT_TRUE(start.NeedsCheckpoint({Base(5)}));
  EXPECT_FALSE(start.NeedsCheckpoint({Base(5), Base(4, 1)}));
}

}  // namespace
}  // namespace skerry::worker
