#include "coordinator/core/rules/seat_totals.h"

#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

SeatCounters Sent(uint64_t bytes) {
  SeatCounters counters;
  counters.bulk_sent_bytes = bytes;
  return counters;
}

class SeatTotalsTest : public testing::Test {
 protected:
  void Say(uint64_t bytes) {
    CountSeat(bench_.job, bench_.decider(), "w0", Sent(bytes));
  }
  void Lose() { CountLost(bench_.job, bench_.decider(), "w0"); }
  // What is left of the coordinator is its journal.
  void Restart() { bench_.job.counting.clear(); }
  uint64_t Total() const { return TotalsOf(bench_.job).bulk_sent_bytes; }

  JobBench bench_;
};

TEST_F(SeatTotalsTest, WhatAKilledProcessSentIsNotForgotten) {
  Say(100);
  EXPECT_EQ(Total(), 100u);
  EXPECT_TRUE(bench_.Decided<Counted>().empty());
  Lose();
  EXPECT_EQ(Total(), 100u);
  Restart();
  EXPECT_EQ(Total(), 100u);
  Say(30);
  EXPECT_EQ(Total(), 130u);
  Say(40);
  EXPECT_EQ(Total(), 140u);
}

TEST_F(SeatTotalsTest, AProcessThatComesBackIsNotCountedTwice) {
  Say(100);
  Lose();
  Say(120);
  EXPECT_EQ(Total(), 120u);
  Restart();
  Say(130);
  EXPECT_EQ(Total(), 130u);
}

TEST_F(SeatTotalsTest, TheNextProcessIsFollowedThroughARestart) {
  Say(100);
  Lose();
  Say(10);
  Say(80);
  Restart();
  Say(150);
  EXPECT_EQ(Total(), 250u);
}

// As after a job has gone back: the process is the same.
TEST_F(SeatTotalsTest, AWorkerThatBeginsToCountAnewIsCountedOn) {
  Say(100);
  Say(10);
  EXPECT_EQ(Total(), 110u);
  Restart();
  Say(20);
  EXPECT_EQ(Total(), 120u);
}

TEST_F(SeatTotalsTest, TheEndOfTheJobOutlivesARestart) {
  Say(100);
  bench_.Emit(JobEnded{bench_.job.id, JobPhase::kSucceeded, "done"});
  CountAll(bench_.job, bench_.decider());
  CountAll(bench_.job, bench_.decider());
  EXPECT_EQ(bench_.Decided<Counted>().size(), 1u);
  Lose();
  EXPECT_EQ(Total(), 100u);
  Restart();
  EXPECT_EQ(Total(), 100u);
}

TEST_F(SeatTotalsTest, ALossThatTellsNothingNewIsNotWritten) {
  Say(100);
  Lose();
  Lose();
  Say(100);
  Lose();
  EXPECT_EQ(bench_.Decided<Counted>().size(), 1u);
}

}  // namespace
}  // namespace skerry::coordinator
