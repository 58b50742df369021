#include "coordinator/core/views/stored_jobs.h"

#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/orders_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "job/testing/specs.h"

namespace skerry::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Instant kStart(absl::Seconds(1));

StoredJobKey KeyOf(JobId job, const std::string& key) {
  return {job, CombineHash(Hash64(std::as_bytes(std::span(key))), job.value())};
}

// A worker whose disk has the folders of these jobs.
StatusFacts From(const std::string& name, uint64_t boot,
                 const std::vector<StoredJobKey>& stored) {
  StatusFacts status;
  status.self = {name, name + ":1", ""};
  status.island = "a";
  status.boot = Boot(boot);
  status.counter = 1;
  for (const StoredJobKey& key : stored) status.stored.all.push_back({key});
  return status;
}

class StoredJobsTest : public ::testing::Test {
 protected:
  StoredJobsTest() { cluster_.Recovered(kStart); }

  JobId Submit(const std::string& key) {
    const auto job = cluster_.Submit(job::SmallJob(key, 100), key, kStart);
    EXPECT_TRUE(job.ok()) << job.status();
    return job->job;
  }
  void Take() {
    for (Entry& entry : cluster_.TakeRecords()) {
      journal_.push_back(std::move(entry));
    }
  }
  static Orders Heard(Cluster& cluster, const StatusFacts& status) {
    EXPECT_TRUE(cluster.OnStatus(status, kStart).ok());
    cluster.TakeRecords();
    return *OrdersOf(cluster, status.self.worker, kStart);
  }

  ClusterOptions options_ = [] {
    ClusterOptions options;
    options.finished_jobs_max = 1;
    return options;
  }();
  Cluster cluster_{options_};
  std::vector<Entry> journal_;
};

TEST_F(StoredJobsTest, AWorkerThatWasAwayLearnsOfADeletion) {
  const StoredJobKey gone = KeyOf(Submit("gone"), "gone");
  const StoredJobKey live = KeyOf(Submit("live"), "live");
  ASSERT_TRUE(cluster_.Cancel(gone.job, kStart).ok());
  ASSERT_TRUE(cluster_.Delete(gone.job, kStart).ok());
  Take();
  const StatusFacts status = From("w", 7, {gone, live});
  EXPECT_THAT(Heard(cluster_, status).removed_jobs, ElementsAre(gone));

  // So it does from a coordinator that was started again, whether it reads
  // records or a snapshot.
  Cluster replayed(options_);
  for (const Entry& entry : journal_) ASSERT_TRUE(replayed.Apply(entry).ok());
  const ClusterSnapshot snapshot = replayed.Save();
  EXPECT_THAT(snapshot.gone_jobs,
              ElementsAre(GoneJob{gone.job, gone.uid, true}));
  replayed.Recovered(kStart);
  EXPECT_THAT(Heard(replayed, status).removed_jobs, ElementsAre(gone));
  Cluster restored(options_);
  ASSERT_TRUE(restored.Restore(snapshot).ok());
  restored.Recovered(kStart);
  const Orders orders = Heard(restored, status);
  EXPECT_THAT(orders.removed_jobs, ElementsAre(gone));
  EXPECT_THAT(orders.ended_jobs, IsEmpty());
}

TEST_F(StoredJobsTest, AJobThatManyHaveFollowedIsStillKnownToHaveEnded) {
  std::vector<StoredJobKey> keys;
  for (const char* name : {"one", "two", "three"}) {
    keys.push_back(KeyOf(Submit(name), name));
    ASSERT_TRUE(cluster_.Cancel(keys.back().job, kStart).ok());
  }
  EXPECT_TRUE(absl::IsNotFound(cluster_.ViewJob(keys[0].job, kStart).status()));
  Take();
  EXPECT_THAT(Heard(cluster_, From("w", 7, keys)).ended_jobs,
              ElementsAre(keys[0], keys[1], keys[2]));
}

TEST_F(StoredJobsTest, WhatIsNotKnownIsForAnOperator) {
  const StoredJobKey live = KeyOf(Submit("live"), "live");
  // The number of a job that goes on, and another job.
  const StoredJobKey other{live.job, live.uid + 1};
  const StatusFacts status = From("w", 7, {other, live});
  Take();
  const Orders orders = Heard(cluster_, status);
  EXPECT_THAT(orders.removed_jobs, IsEmpty());
  EXPECT_THAT(orders.ended_jobs, IsEmpty());
  const auto view = cluster_.ViewWorker("w", kStart);
  ASSERT_TRUE(view.ok());
  ASSERT_EQ(view->stored_jobs.size(), 2u);
  EXPECT_EQ(view->stored_jobs[0].state, "live");
  EXPECT_EQ(view->stored_jobs[0].name, "live");
  EXPECT_EQ(view->stored_jobs[1].state, "unknown");

  EXPECT_TRUE(absl::IsFailedPrecondition(
      cluster_.RemoveStored("w", std::vector{other, live}, kStart)));
  const StoredJobKey nothing{JobId(9), 9};
  EXPECT_TRUE(
      absl::IsNotFound(cluster_.RemoveStored("w", {&nothing, 1}, kStart)));
  EXPECT_TRUE(
      absl::IsNotFound(cluster_.RemoveStored("x", {&other, 1}, kStart)));
  EXPECT_THAT(OrdersOf(cluster_, "w", kStart)->removed_jobs, IsEmpty());
  ASSERT_TRUE(cluster_.RemoveStored("w", {&other, 1}, kStart).ok());
  EXPECT_THAT(OrdersOf(cluster_, "w", kStart)->removed_jobs,
              ElementsAre(other));
  EXPECT_THAT(cluster_.TakeTouched(), ElementsAre("w"));
}

}  // namespace
}  // namespace skerry::coordinator
