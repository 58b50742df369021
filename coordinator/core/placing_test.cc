#include "coordinator/core/placing.h"

#include "coordinator/core/testing/job_bench.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

std::string Why(const JobBench& bench, const Turn& turn = {}) {
  return WhyItWaits(bench.job, bench.workers, turn, bench.options);
}

job::JobSpec Wants(uint32_t workers) {
  job::JobSpec spec = job::SmallJob("bench", 1000);
  spec.placement.workers_min = workers;
  return spec;
}

TEST(PlacingTest, AWorkerThatFailedBeforeTheJobBeganIsTheReasonThatItWaits) {
  JobBench bench(Wants(2));
  bench.AddWorker("w0", "a");
  bench.AddWorker("w1", "b");
  bench.Facts("w0");
  bench.job.seats["w0"].unfit = "disk: no space left";
  EXPECT_EQ(Why(bench),
            "it needs 2 worker(s) and may have 1; w0 failed: disk: no space "
            "left");
}

TEST(PlacingTest, FailuresAreToldFirstAndOfManyReasonsAFew) {
  JobBench bench(Wants(3));
  for (const char* name : {"w0", "w1", "w2", "w3", "w4"}) {
    bench.AddWorker(name, "a");
  }
  for (const char* name : {"w0", "w1", "w2"}) {
    bench.Emit(WorkerMarked{name, WorkerIntent::kCordon});
  }
  bench.Facts("w4");
  bench.job.seats["w4"].unfit = "no device";
  EXPECT_EQ(Why(bench),
            "it needs 3 worker(s) and may have 1; w4 failed: no device; w0: it "
            "is cordoned; w1: it is cordoned; and 1 more");
}

TEST(PlacingTest, AFailureOfAFormerProcessIsNoReason) {
  JobBench bench(Wants(2));
  bench.AddWorker("w0", "a");
  bench.Facts("w0");
  bench.job.seats["w0"].unfit = "no device";
  bench.AddWorker("w0", "a");
  EXPECT_EQ(Why(bench), "it needs 2 worker(s) and may have 1");
}

// A Status of the worker that names its host.
void Say(JobBench& bench, const std::string& name, const std::string& host) {
  StatusFacts status;
  status.self.worker = name;
  status.counter = 2;
  status.machine.host = host;
  bench.workers.Heard(status, bench.now);
}

std::string Apart(const JobBench& bench, const std::string& name) {
  return WhyApart(bench.workers, *bench.workers.FindCurrent(name));
}

TEST(PlacingTest, AWorkerOnAnotherHostHasNoPartInItsIsland) {
  JobBench bench(Wants(3));
  for (const char* name : {"w0", "w1", "w2"}) bench.AddWorker(name, "a");
  bench.AddWorker("w3", "b");
  Say(bench, "w2", "south");
  Say(bench, "w1", "north");
  Say(bench, "w0", "south");
  Say(bench, "w3", "north");
  EXPECT_EQ(Apart(bench, "w0"), "");
  EXPECT_EQ(Apart(bench, "w2"), "");
  EXPECT_EQ(Apart(bench, "w3"), "");
  EXPECT_EQ(Why(bench),
            "it needs 3 worker(s) and may have 3; w1: it is on another host "
            "than w0, which came to island a first, and workers of an island "
            "share memory; start it with an --island of its own");
}

TEST(PlacingTest, AWorkerThatHasNotNamedItsHostIsNotApart) {
  JobBench bench;
  for (const char* name : {"w0", "w1"}) bench.AddWorker(name, "a");
  Say(bench, "w0", "");
  Say(bench, "w1", "north");
  EXPECT_EQ(Apart(bench, "w0"), "");
  EXPECT_EQ(Apart(bench, "w1"), "");
}

TEST(PlacingTest, AnIslandIsWhereItsFirstWorkerIsForAsLongAsThatIsThere) {
  JobBench bench;
  const Incarnation first = bench.AddWorker("w1", "a");
  bench.AddWorker("w0", "a");
  Say(bench, "w0", "north");
  Say(bench, "w1", "south");
  EXPECT_NE(Apart(bench, "w0"), "");
  EXPECT_EQ(Apart(bench, "w1"), "");
  bench.Emit(WorkerLeft{"w1", first, "a test"});
  EXPECT_EQ(Apart(bench, "w0"), "");
  bench.AddWorker("w1", "a");
  Say(bench, "w1", "south");
  EXPECT_EQ(Apart(bench, "w0"), "");
  EXPECT_NE(Apart(bench, "w1"), "");
  bench.AddWorker("w0", "a");
  Say(bench, "w0", "south");
  EXPECT_EQ(Apart(bench, "w0"), "");
  EXPECT_EQ(Apart(bench, "w1"), "");
}

TEST(PlacingTest, JobsThatComeFirstAndQuotasAreNamed) {
  JobBench bench;
  bench.AddWorker("w0", "a");
  Turn turn;
  turn.before["a"] = 4;
  EXPECT_EQ(Why(bench, turn),
            "it needs 1 worker(s) and may have 0; w0: 4 job(s) come first on "
            "island a, and a worker takes 4");
  turn.held = "the quota is used up";
  EXPECT_EQ(Why(bench, turn), "the quota is used up");
}

}  // namespace
}  // namespace skerry::coordinator
