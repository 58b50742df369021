// When a job that has ended falls asleep, and what wakes it.
#include "worker/shell/served_job.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "job/testing/specs.h"
#include "worker/shell/testing/fake_machine.h"

namespace skerry::worker {
namespace {

class ServedJobTest : public testing::Test {
 protected:
  ServedJobTest() {
    machine_.times.ended_idle = absl::Seconds(10);
    orders_.job = JobId(7);
    orders_.uid = 70;
    orders_.phase = protocol::JobPhase::kRunning;
    orders_.spec = job::SmallJob("bible", 1000);
    orders_.fragments.resize(1);
  }
  void Start() {
    job_ = std::make_unique<ServedJob>(orders_, machine_.Machine(),
                                       [this] { ++changes_; });
    ASSERT_TRUE(job_->Start().ok());
    Hear();
  }
  void Hear() {
    ASSERT_TRUE(job_->OnOrders(Revision(++revision_), orders_).ok());
  }
  void End() {
    orders_.phase = protocol::JobPhase::kSucceeded;
    Hear();
  }
  bool IsAwake() const { return job_->shell() != nullptr; }

  FakeMachine machine_;
  protocol::JobOrders orders_;
  uint64_t revision_ = 0;
  int changes_ = 0;
  std::unique_ptr<ServedJob> job_;
};

TEST_F(ServedJobTest, AJobThatRunsDoesNotSleep) {
  Start();
  machine_.loop.Advance(absl::Hours(1));
  EXPECT_TRUE(IsAwake());
}

TEST_F(ServedJobTest, AJobThatEndedSleepsWhenNobodyHasUsedIt) {
  Start();
  End();
  machine_.loop.Advance(absl::Seconds(9));
  EXPECT_TRUE(IsAwake());
  (void)job_->OnFetch({});
  machine_.loop.Advance(absl::Seconds(9));
  EXPECT_TRUE(IsAwake());
  machine_.loop.Advance(absl::Seconds(2));
  EXPECT_FALSE(IsAwake());
  EXPECT_EQ(machine_.sleeps, 1);
  EXPECT_EQ(job_->Facts().job, JobId(7));
  EXPECT_EQ(job_->Facts().uid, 70u);
  EXPECT_EQ(job_->Facts().state, protocol::SeatState::kResting);
}

TEST_F(ServedJobTest, AJobThatHadEndedBeforeIsReadAndSleepsSoon) {
  orders_.phase = protocol::JobPhase::kSucceeded;
  Start();
  EXPECT_TRUE(job_->IsBeingRead());
  const int before = changes_;
  machine_.loop.Advance(absl::Seconds(1));
  EXPECT_FALSE(IsAwake());
  EXPECT_FALSE(job_->IsBeingRead());
  EXPECT_GT(changes_, before);
}

TEST_F(ServedJobTest, APeerThatFetchesWakesTheJob) {
  Start();
  End();
  machine_.loop.Advance(absl::Seconds(11));
  ASSERT_FALSE(IsAwake());
  job_->OnBootChanged("a new boot");
  job_->SetDraining(true);
  EXPECT_FALSE(IsAwake());
  (void)job_->OnFetch({});
  EXPECT_TRUE(IsAwake());
  EXPECT_EQ(machine_.shells, 2);
  machine_.loop.Advance(absl::Seconds(11));
  EXPECT_FALSE(IsAwake());
}

TEST_F(ServedJobTest, OrdersWakeItOnlyForMoreWork) {
  Start();
  End();
  machine_.loop.Advance(absl::Seconds(11));
  Hear();
  EXPECT_FALSE(IsAwake());
  orders_.generate.push_back({.request = 1, .prompt = "In the", .tokens = 4});
  Hear();
  EXPECT_TRUE(IsAwake());
  EXPECT_TRUE(machine_.runs);
}

TEST_F(ServedJobTest, AJobWithoutItsLastStateWaitsForItAndWakesForIt) {
  orders_.element_count = 8 * 4096;
  orders_.fragments[0].newest = Sequence(5);
  // A trainer's initial values lead nowhere any more.
  orders_.fragments[0].keep_from = Sequence(4);
  protocol::SpanHolder& holder = orders_.holders.emplace_back();
  holder.peer.worker = "a";
  holder.span_end = 8;
  Start();
  End();
  machine_.loop.Advance(absl::Seconds(150));
  EXPECT_TRUE(IsAwake()) << "somebody may still show that state";
  machine_.loop.Advance(absl::Seconds(60));
  EXPECT_FALSE(IsAwake());
  Hear();
  EXPECT_FALSE(IsAwake());
  orders_.fragments[0].sources.emplace_back().results_through = Sequence(5);
  Hear();
  EXPECT_TRUE(IsAwake());
}

TEST_F(ServedJobTest, AJobWhoseFolderCannotBeReadStaysAsleep) {
  Start();
  End();
  machine_.loop.Advance(absl::Seconds(11));
  machine_.scan = absl::DataLossError("the disk failed");
  EXPECT_EQ(job_->OnFetch({}).status().message(), "the disk failed");
  EXPECT_FALSE(IsAwake());
  machine_.scan = absl::OkStatus();
  (void)job_->OnFetch({});
  EXPECT_TRUE(IsAwake());
}

}  // namespace
}  // namespace skerry::worker
