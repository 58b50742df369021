#include "coordinator/core/state/queue.h"

#include <deque>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using ::testing::HasSubstr;

// Jobs that want one worker of island a, which takes one job at a time.
class QueueTest : public testing::Test {
 protected:
  QueueTest() {
    options_.seats_max = 1;
    AddWorker("w0", "a");
  }
  void AddWorker(const std::string& name, const std::string& island) {
    ++workers_added_;
    ASSERT_TRUE(workers_
                    .Apply(Incarnation(workers_added_),
                           WorkerAdmitted{{name, name + ":1", ""},
                                          Boot(workers_added_),
                                          island,
                                          "test"})
                    .ok());
  }
  // Its number is how many there are then.
  job::JobSpec& Add(int32_t priority, const std::string& owner = "x") {
    job::JobSpec& spec = specs_.emplace_back();
    spec.queue.priority = priority;
    spec.queue.owner = owner;
    spec.placement.workers_min = 1;
    begun_.emplace_back();
    return spec;
  }
  void Begin(uint64_t job, const std::string& island) {
    begun_[job - 1].emplace(island, ReplicaId(1));
  }
  Turn TurnOf(uint64_t job) const {
    std::vector<QueuedJob> jobs;
    for (size_t i = 0; i < specs_.size(); ++i) {
      jobs.push_back({JobId(i + 1), &specs_[i], &begun_[i], begun_[i].empty()});
    }
    return JobQueue(std::move(jobs), workers_, options_).TurnOf(JobId(job));
  }
  size_t Before(uint64_t job) const { return TurnOf(job).BeforeOn("a"); }

  ClusterOptions options_;
  WorkerTable workers_{options_};
  uint64_t workers_added_ = 0;
  std::deque<job::JobSpec> specs_;
  std::deque<absl::btree_map<std::string, ReplicaId>> begun_;
};

TEST_F(QueueTest, HigherPriorityGoesFirstAndThenWhoCameFirst) {
  Add(0);
  Add(5);
  Add(5);
  Add(-3);
  EXPECT_EQ(Before(2), 0u);
  EXPECT_EQ(Before(3), 1u);
  EXPECT_EQ(Before(1), 2u);
  EXPECT_EQ(Before(4), 3u);
  EXPECT_EQ(TurnOf(2).position, 1u);
  EXPECT_EQ(TurnOf(4).position, 4u);
  EXPECT_EQ(TurnOf(4).length, 4u);
}

TEST_F(QueueTest, NothingIsTakenFromAJobThatHasBegun) {
  Add(-1000);
  Add(1000);
  Begin(1, "a");
  EXPECT_EQ(Before(1), 0u);
  EXPECT_EQ(Before(2), 1u);
  EXPECT_EQ(TurnOf(1).position, 0u);
  EXPECT_EQ(TurnOf(2).position, 1u);
  EXPECT_EQ(TurnOf(2).length, 1u);
}

TEST_F(QueueTest, AJobThatHasBegunElsewhereTakesItsTurnOnOtherIslands) {
  AddWorker("w1", "b");
  Add(0);
  Add(5);
  Begin(1, "b");
  EXPECT_EQ(TurnOf(1).BeforeOn("a"), 1u);
  EXPECT_EQ(TurnOf(2).BeforeOn("a"), 0u);
  EXPECT_EQ(TurnOf(2).BeforeOn("b"), 1u);
}

TEST_F(QueueTest, JobsOfOtherIslandsAreNotInTheWay) {
  Add(5).placement.islands = {"b"};
  Add(0);
  EXPECT_EQ(Before(2), 0u);
}

TEST_F(QueueTest, AJobThatTooFewWorkersAreThereForHoldsUpNobody) {
  Add(5).placement.workers_min = 2;
  Add(0);
  EXPECT_EQ(Before(2), 0u);
  EXPECT_EQ(TurnOf(1).position, 1u);
  AddWorker("w1", "a");
  EXPECT_EQ(Before(2), 1u);
  ASSERT_TRUE(workers_.Apply(WorkerMarked{"w1", WorkerIntent::kCordon}).ok());
  EXPECT_EQ(Before(2), 0u);
}

TEST_F(QueueTest, AnOwnerHasNoMoreJobsAtATimeThanItsQuota) {
  options_.quotas["x"] = 1;
  Add(0);
  Add(0);
  Add(-5, "y");
  EXPECT_EQ(TurnOf(1).held, "");
  EXPECT_EQ(TurnOf(2).held,
            "the quota of owner x is 1 job(s) at a time, and 1 come(s) first");
  // A job that a quota holds does not hold up others.
  EXPECT_EQ(Before(3), 1u);
  // Among one owner's jobs, too, the one of higher priority goes first.
  Add(3);
  EXPECT_EQ(TurnOf(4).held, "");
  EXPECT_NE(TurnOf(1).held, "");
  // Unless another has begun.
  Begin(2, "a");
  EXPECT_EQ(TurnOf(2).held, "");
  EXPECT_NE(TurnOf(4).held, "");
}

TEST_F(QueueTest, OwnersThatAreNotNamedShareAQuotaSizeButNotTheQuota) {
  options_.quotas[kEveryOtherOwner] = 1;
  options_.quotas["y"] = 2;
  Add(0, "x");
  Add(0, "x");
  Add(0, "y");
  Add(0, "y");
  Add(0, "z");
  EXPECT_EQ(TurnOf(1).held, "");
  EXPECT_THAT(TurnOf(2).held, HasSubstr("owner x"));
  EXPECT_EQ(TurnOf(4).held, "");
  EXPECT_EQ(TurnOf(5).held, "");
}

TEST_F(QueueTest, OfAnUnknownJobNothingIsInTheWay) {
  Add(0);
  EXPECT_EQ(TurnOf(9).position, 0u);
  EXPECT_TRUE(TurnOf(9).before.empty());
}

}  // namespace
}  // namespace skerry::coordinator
