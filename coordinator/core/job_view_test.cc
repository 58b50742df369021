#include "coordinator/core/job_view.h"

#include "coordinator/core/testing/job_bench.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using ::testing::HasSubstr;

std::string ReasonOf(const JobBench& bench) {
  return ViewOf(bench.job, bench.workers, bench.options, Turn(), Revision(1),
                bench.now)
      .reason;
}

TEST(JobViewTest, AJobThatCannotStartSaysWhatIsWrongAndWhere) {
  JobBench bench;
  Place& place = bench.job.places["a"];
  place.incarnations = {bench.AddWorker("w0", "a")};
  place.workers = {"w0"};
  EXPECT_EQ(ReasonOf(bench), "trainers are starting");
  bench.Facts("w0").error = "the trainer was killed";
  EXPECT_EQ(ReasonOf(bench),
            "trainers are starting; w0: the trainer was killed");
}

TEST(JobViewTest, AJobWithoutAReplicaSaysWhatIsWrongAndWhere) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0"});
  bench.Emit(ReplicaEnded{bench.job.id, life, "its trainer died"});
  bench.Facts("w0").error = "the trainer ended with code 1";
  EXPECT_THAT(ReasonOf(bench), HasSubstr("w0: the trainer ended with code 1"));
}

}  // namespace
}  // namespace skerry::coordinator
