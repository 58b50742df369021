#include "coordinator/core/rules/job_workers.h"

#include <string>
#include <vector>

#include "coordinator/core/rules/job_orders.h"
#include "coordinator/core/rules/job_rules.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/testing/job_bench.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// Those that the orders of `reader` name.
std::vector<std::string> NamesTo(const JobBench& bench,
                                 const std::string& reader) {
  const auto orders =
      JobOrdersWriter(bench.job, bench.workers, bench.options, bench.now)
          .For(reader);
  return orders.has_value() ? orders->workers : std::vector<std::string>();
}

void Hear(JobBench& bench, const std::string& name) {
  JobFacts facts;
  facts.job = bench.job.id;
  facts.state = protocol::SeatState::kRecovering;
  HearSeat(bench.job, name, bench.workers.FindCurrent(name)->incarnation,
           &facts, bench.options);
}

TEST(JobWorkersTest, EveryWorkerOfTheJobIsToldOfAllAndOfItself) {
  JobBench bench;
  bench.AddReplica("a", {"w0", "w1"});
  bench.AddReplica("b", {"w2"});
  EXPECT_THAT(NamesTo(bench, "w0"), ElementsAre("w0", "w1", "w2"));
  EXPECT_THAT(NamesTo(bench, "w2"), ElementsAre("w0", "w1", "w2"));
}

TEST(JobWorkersTest, AJoinerIsNamedWithItsPlaceBeforeItHasSaidAnything) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.job.touched.clear();
  bench.AddWorker("w9", "z");
  EXPECT_THAT(NamesTo(bench, "w0"), ElementsAre("w0"));
  bench.job.places_stale = true;
  DecideMembership(bench.job, bench.decider());
  EXPECT_THAT(NamesTo(bench, "w0"), ElementsAre("w0", "w9"));
  EXPECT_THAT(NamesTo(bench, "w9"), ElementsAre("w0", "w9"));
  // The others hear of it at once.
  EXPECT_THAT(bench.job.touched, Contains("w0"));
}

// It has a folder of the job, and is asked for what it has.
TEST(JobWorkersTest, WhoHasNoPlaceIsNamedOnceItHasSaidSomething) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  bench.AddWorker("w9", "z");
  bench.job.touched.clear();
  Hear(bench, "w9");
  EXPECT_THAT(bench.job.touched, Contains("w0"));
  EXPECT_THAT(NamesTo(bench, "w0"), ElementsAre("w0", "w9"));
  // What it says later touches nobody.
  bench.job.touched.clear();
  Hear(bench, "w9");
  EXPECT_THAT(bench.job.touched, IsEmpty());
}

TEST(JobWorkersTest, WhoseLifeHasEndedStaysNamedUntilItIsLost) {
  JobBench bench;
  bench.AddReplica("a", {"w0"});
  const Life life = bench.AddReplica("b", {"w1"});
  EndLife(bench.job, bench.decider(), life, "worker w1 drains");
  EXPECT_THAT(NamesTo(bench, "w0"), Contains("w1"));
  LoseWorker(bench.job, bench.decider(), "w1", "a test");
  bench.Emit(
      WorkerLeft{"w1", bench.workers.FindCurrent("w1")->incarnation, "a test"});
  EXPECT_THAT(NamesTo(bench, "w0"), Not(Contains("w1")));
}

TEST(JobWorkersTest, OrdersOfALargeJobNameNobody) {
  JobBench bench;
  bench.options.job_workers_named_max = 2;
  bench.AddReplica("a", {"w0", "w1"});
  EXPECT_THAT(NamesTo(bench, "w0"), ElementsAre("w0", "w1"));
  bench.AddReplica("b", {"w2"});
  EXPECT_THAT(NamesTo(bench, "w0"), IsEmpty());
  bench.job.touched.clear();
  TellWorkers(bench.job, bench.options);
  EXPECT_THAT(bench.job.touched, IsEmpty());
}

}  // namespace
}  // namespace skerry::coordinator
