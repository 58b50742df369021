// What nobody may act on, one claim each.
#include "tests/sim/check/heard.h"

#include <string>

#include "gtest/gtest.h"

namespace skerry::sim {
namespace {

const JobId kJob(7);
constexpr HostId kHost = 3;
constexpr uint64_t kRun = 1;

class HeardCheckerTest : public testing::Test {
 protected:
  void Report(uint64_t counter, uint64_t applied, uint64_t run = kRun,
              uint64_t attempt = 0) {
    protocol::StatusFacts status;
    status.boot = Boot(5);
    status.counter = counter;
    protocol::JobFacts& job = status.jobs.emplace_back();
    job.job = kJob;
    protocol::FragmentFacts& fragment = job.fragments.emplace_back();
    fragment.applied = Sequence(applied);
    fragment.applied_attempt = Attempt(attempt);
    checker_.OnStatusTaken(kHost, run, status);
  }
  void Tell(uint64_t commit, protocol::KeptState kept = {}) {
    protocol::Orders orders;
    orders.boot = Boot(5);
    protocol::JobOrders& job = orders.jobs.emplace_back();
    job.job = kJob;
    protocol::FragmentOrders& fragment = job.fragments.emplace_back();
    fragment.committed.emplace_back().sequence = Sequence(commit);
    fragment.kept = kept;
    checker_.OnOrdersSaid(kHost, orders);
  }
  void Hear(uint64_t attempt) {
    protocol::JobOrders orders;
    orders.job = kJob;
    orders.fragments.resize(1);
    orders.fragments[0].open.emplace().attempt = Attempt(attempt);
    checker_.OnOrdersHeard(kHost, kRun, orders);
  }
  void Take(uint64_t attempt, uint64_t run = kRun) {
    compression::FrameHeader header;
    header.job = kJob.value();
    header.attempt = attempt;
    checker_.OnFrameTaken(kHost, run, header);
  }

  Violations found_;
  HeardChecker checker_{found_};
};

TEST_F(HeardCheckerTest, OrdersThatAnswerTheNewestStatusAreFine) {
  Report(1, 4);
  Tell(5);
  Report(2, 6);
  Report(1, 4);  // late, and not counted
  Tell(7);
  Report(1, 4, kRun + 1);  // a coordinator that has started anew
  Tell(5);
  EXPECT_EQ(found_.count(), 0u);
}

TEST_F(HeardCheckerTest, OrdersThatAnswerALateStatusAreSeen) {
  Report(2, 6);
  Report(1, 4);
  Tell(5);
  EXPECT_EQ(found_.count(), 1u);
}

TEST_F(HeardCheckerTest, ALostStateIsNotThere) {
  checker_.OnDurable(
      {Revision(100), coordinator::Adopted{kJob, {Sequence(4)}, "kept"}});
  const protocol::KeptState kept{Sequence(4), Attempt(), Attempt(100)};
  Report(1, 6, kRun, 30);
  Tell(5, kept);
  EXPECT_EQ(found_.count(), 0u);
  Report(2, 6, kRun, 101);  // made since
  Tell(5, kept);
  EXPECT_EQ(found_.count(), 1u);
}

TEST_F(HeardCheckerTest, AKeptStateThatTheJournalDoesNotHaveIsSeen) {
  checker_.OnDurable(
      {Revision(100), coordinator::Adopted{kJob, {Sequence(4)}, "kept"}});
  Report(1, 4);
  Tell(5, {Sequence(3), Attempt(), Attempt(100)});
  EXPECT_EQ(found_.count(), 1u);
  Tell(5, {Sequence(4), Attempt(), Attempt(99)});
  EXPECT_EQ(found_.count(), 2u);
}

TEST_F(HeardCheckerTest, FramesOfWhatOrdersHaveNamedAreFine) {
  Hear(11);
  Take(11);
  Hear(12);
  Take(12);
  Take(12);
  EXPECT_EQ(found_.count(), 0u);
}

TEST_F(HeardCheckerTest, AFrameOfAnAttemptThatNobodyNamedIsSeen) {
  Hear(11);
  Take(12);
  EXPECT_EQ(found_.count(), 1u);
  Take(11, kRun + 1);  // it has forgotten what it had heard
  EXPECT_EQ(found_.count(), 2u);
}

TEST_F(HeardCheckerTest, AFrameOfAnAttemptThatIsOverIsSeen) {
  Hear(12);
  Take(12);
  Take(11);
  EXPECT_EQ(found_.count(), 1u);
}

}  // namespace
}  // namespace skerry::sim
