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
