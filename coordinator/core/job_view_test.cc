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

uint64_t SynchronousBytes(const JobBench& bench) {
  return ViewOf(bench.job, bench.workers, bench.options, Turn(), Revision(1),
                bench.now)
      .counters.synchronous_bytes;
}

void CommitOpen(JobBench& bench, const std::vector<std::string>& workers) {
  for (const std::string& worker : workers) bench.Report(worker, 77);
  const OpenAttempt open = *bench.job.fragments[0].open();
  bench.Emit(Committed{bench.job.id,
                       FragmentId(0),
                       open.opened.sequence,
                       open.attempt,
                       {77, 77, 77, 77, 77, 77, 77, 77},
                       16,
                       {2.0, 3, 1, 1}});
}

TEST(JobViewTest, TheSavingCountsTheReplicasOfEachCommit) {
  JobBench bench;
  const Life a = bench.AddReplica("a", {"wa"});
  bench.AddReplica("b", {"wb"});
  bench.Offer("wa", 1, 0, {0, 8});
  bench.Offer("wb", 1, 0, {16, 24});
  Opened opened;
  opened.job = bench.job.id;
  opened.sequence = Sequence(1);
  for (const char* worker : {"wa", "wb"}) {
    const Replica& replica = *bench.job.replicas.FindWorker(worker);
    opened.members.push_back({replica.replica, replica.life,
                              *bench.Fragment(worker).ready, replica.holders});
  }
  opened.owners.assign(8, 0);
  opened.total_weight = 16;
  bench.Emit(opened);
  CommitOpen(bench, {"wa", "wb"});
  // 2 (R - 1) x 4 bytes for 8 x 4096 values at each of 3 steps.
  constexpr uint64_t kWithTwo = 2 * 4 * 8 * 4096 * 3;
  EXPECT_EQ(SynchronousBytes(bench), kWithTwo);
  // What was committed stays what it was, however many replicas there are now.
  bench.AddReplica("c", {"wc"});
  EXPECT_EQ(SynchronousBytes(bench), kWithTwo);
  bench.Emit(ReplicaEnded{bench.job.id, a, "its trainer died"});
  EXPECT_EQ(SynchronousBytes(bench), kWithTwo);
}

}  // namespace
}  // namespace skerry::coordinator
