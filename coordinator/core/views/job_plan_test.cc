#include "coordinator/core/views/job_plan.h"

#include <map>

#include "gtest/gtest.h"
#include "job/review.h"
#include "job/testing/specs.h"

namespace skerry::coordinator {
namespace {

class JobPlanTest : public testing::Test {
 protected:
  void Add(const std::string& name, const std::string& island) {
    ++next_;
    ASSERT_TRUE(
        workers_
            .Apply(Incarnation(next_),
                   WorkerAdmitted{
                       {name, name + ":1", ""}, Boot(next_), island, "test"})
            .ok());
  }
  JobPlan Plan(const job::JobSpec& spec, uint64_t elements = 8 * 4096,
               const Turn& turn = {}) {
    auto reviewed = ReviewJobSpec(spec);
    EXPECT_TRUE(reviewed.ok()) << reviewed.status();
    return PlanJob(*std::move(reviewed), elements, workers_, options_, turn,
                   [&](const std::string& worker) { return links_[worker]; });
  }
  // "worker: reason" of all that are left out.
  std::vector<std::string> LeftOut(const JobPlan& plan) {
    std::vector<std::string> all;
    for (const LeftOutWorker& left : plan.left_out) {
      all.push_back(left.worker + ": " + left.reason);
    }
    return all;
  }

  ClusterOptions options_;
  WorkerTable workers_{options_};
  std::map<std::string, std::vector<LinkView>> links_;
  uint64_t next_ = 0;
};

TEST_F(JobPlanTest, AnIslandIsAReplicaAndItsWorkersShareTheSpans) {
  Add("n0", "north");
  Add("n1", "north");
  Add("e0", "east");
  const JobPlan plan = Plan(job::SmallJob("job", 1000));
  EXPECT_TRUE(plan.starts) << plan.reason;
  ASSERT_EQ(plan.replicas.size(), 2u);
  EXPECT_EQ(plan.replicas[0].island, "east");
  EXPECT_EQ(plan.replicas[0].seats[0].elements, 8u * 4096);
  const auto& north = plan.replicas[1].seats;
  ASSERT_EQ(north.size(), 2u);
  EXPECT_EQ(north[0].span_end, north[1].span_begin);
  EXPECT_EQ(north[0].elements + north[1].elements, 8u * 4096);
  EXPECT_GT(plan.replicas[0].seats[0].host_bytes, north[0].host_bytes);
  ASSERT_TRUE(plan.exchange.has_value());
  EXPECT_EQ(plan.exchange->members, 2u);
  EXPECT_EQ(plan.exchange->hops, 1u);
  // tau 2, batch 4, three workers.
  EXPECT_EQ(plan.exchange->samples_per_round, 24u);
  EXPECT_EQ(plan.exchange->rounds, 42u);
  EXPECT_EQ(plan.exchange->sent_bytes_each, plan.exchange->model_bytes);
}

TEST_F(JobPlanTest, MeasuredLinksSayHowLongAnExchangeTakes) {
  Add("n0", "north");
  Add("n1", "north");
  Add("e0", "east");
  links_["n0"] = {{"e0", 1e3, 0.1}, {"n1", 1, 9}};
  links_["n1"] = {{"e0", 1e5, 0.2}};
  // Nobody knows the way back.
  EXPECT_EQ(Plan(job::SmallJob("job", 1000)).exchange->seconds, 0);
  links_["e0"] = {{"n0", 2e4, 0.5}};
  const auto exchange = *Plan(job::SmallJob("job", 1000)).exchange;
  // One hop, and half of the longest round trip.
  EXPECT_NEAR(exchange.seconds,
              static_cast<double>(exchange.sent_bytes_each) / 2e4 + 0.25, 1e-9);
}

TEST_F(JobPlanTest, UncodedValuesTakeTwoHopsOverAShortLink) {
  Add("n0", "north");
  Add("e0", "east");
  job::JobSpec spec = job::SmallJob("job", 1000);
  spec.exchange.codec = "raw_f32";
  links_["n0"] = {{"e0", 1e9, 1e-4}};
  links_["e0"] = {{"n0", 1e9, 1e-4}};
  EXPECT_EQ(Plan(spec).exchange->hops, 2u);
  spec.exchange.codec = "bf16";
  EXPECT_EQ(Plan(spec).exchange->hops, 1u);
}

TEST_F(JobPlanTest, EveryoneWhoIsLeftOutHasAReason) {
  for (const char* name : {"a", "b", "c", "d"}) Add(name, "north");
  Add("e", "east");
  ASSERT_TRUE(workers_.Apply(WorkerMarked{"b", WorkerIntent::kCordon}).ok());
  ASSERT_TRUE(workers_.Apply(WorkerMarked{"c", WorkerIntent::kDrain}).ok());
  ASSERT_TRUE(workers_.Apply(WorkerLeft{"d", Incarnation(4), ""}).ok());
  job::JobSpec spec = job::SmallJob("job", 1000);
  spec.placement.islands = {"north"};
  EXPECT_EQ(LeftOut(Plan(spec)),
            (std::vector<std::string>{
                "b: it is cordoned", "c: it drains", "d: it is lost",
                "e: island east is not in placement.islands"}));
}

TEST_F(JobPlanTest, TooFewWorkersAreCounted) {
  Add("a", "north");
  job::JobSpec spec = job::SmallJob("job", 1000);
  spec.placement.workers_min = 3;
  Turn turn;
  turn.position = 1;
  turn.length = 2;
  const JobPlan plan = Plan(spec, 8 * 4096, turn);
  EXPECT_FALSE(plan.starts);
  EXPECT_EQ(plan.reason,
            "1 worker(s) may work on it and 3 are needed; it would be number 1 "
            "of 2 in the queue");
  EXPECT_EQ(plan.queue_position, 1u);
}

TEST_F(JobPlanTest, MinReplicasThatCannotBeReachedAreSaidBeforehand) {
  Add("a", "north");
  Add("b", "south");
  job::JobSpec spec = job::SmallJob("job", 1000);
  spec.exchange.min_replicas = 3;
  Turn turn;
  turn.position = turn.length = 1;
  const JobPlan plan = Plan(spec, 8 * 4096, turn);
  EXPECT_FALSE(plan.starts);
  EXPECT_EQ(plan.reason,
            "2 worker(s) may work on it and 1 are enough; "
            "exchange.min_replicas is 3, and workers of 2 island(s) may work "
            "on it: no exchange opens before there are more islands; add "
            "workers of another island, or submit it with a smaller "
            "min_replicas");
}

TEST_F(JobPlanTest, FullIslandsAndTooSmallModelsLeaveWorkersOut) {
  for (const char* name : {"a", "b", "c"}) Add(name, "north");
  Turn full;
  full.before["north"] = options_.seats_max;
  const JobPlan busy = Plan(job::SmallJob("job", 1000), 8 * 4096, full);
  EXPECT_FALSE(busy.starts);
  EXPECT_EQ(busy.left_out.size(), 3u);
  EXPECT_EQ(busy.left_out[0].reason,
            "4 job(s) come first on island north, and a worker takes 4");
  EXPECT_FALSE(busy.exchange.has_value());
  const JobPlan small = Plan(job::SmallJob("job", 1000), 2 * 4096);
  EXPECT_EQ(small.replicas[0].seats.size(), 2u);
  EXPECT_EQ(LeftOut(small),
            (std::vector<std::string>{
                "c: the model has 2 spans, and each worker of an island holds "
                "one at least"}));
}

TEST_F(JobPlanTest, AQuotaThatIsUsedUpLeavesEveryoneOut) {
  Add("a", "north");
  Turn turn;
  turn.held = "the quota is used up";
  const JobPlan plan = Plan(job::SmallJob("job", 1000), 8 * 4096, turn);
  EXPECT_FALSE(plan.starts);
  EXPECT_EQ(LeftOut(plan),
            (std::vector<std::string>{"a: the quota is used up"}));
  EXPECT_TRUE(plan.reason.ends_with(": the quota is used up")) << plan.reason;
}

TEST_F(JobPlanTest, WithoutASizeNobodyHoldsSpans) {
  Add("a", "north");
  const JobPlan plan = Plan(job::SmallJob("job", 1000), 0);
  EXPECT_TRUE(plan.starts);
  EXPECT_FALSE(plan.exchange.has_value());
  EXPECT_EQ(plan.replicas[0].seats[0].span_end, 0u);
}

TEST_F(JobPlanTest, ALoneReplicaSendsNothing) {
  Add("a", "north");
  const JobPlan plan = Plan(job::SmallJob("job", 1000));
  EXPECT_EQ(plan.exchange->hops, 0u);
  EXPECT_EQ(plan.exchange->sent_bytes_each, 0u);
}

}  // namespace
}  // namespace skerry::coordinator
