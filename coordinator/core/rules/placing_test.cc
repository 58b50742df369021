#include "coordinator/core/rules/placing.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
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
            "than w0, which came to island a first, and both meet others in "
            "shared memory only; start it with an --island of its own, or both "
            "with --island-address");
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

// A Status of the worker that names its programs.
void Allow(JobBench& bench, const std::string& name,
           std::vector<protocol::ProgramFact> programs) {
  StatusFacts status;
  status.self.worker = name;
  status.counter = 2;
  status.programs = std::move(programs);
  bench.workers.Heard(status, bench.now);
}

TEST(PlacingTest, AJobOfAProgramWaitsForWorkersThatAllowIt) {
  JobBench bench(job::ProgramJob("bench", 1000));
  const std::string one(64, 'a');
  const std::string two(64, 'b');
  for (const char* name : {"w0", "w1", "w2"}) bench.AddWorker(name, "a");
  Allow(bench, "w1", {{"resnet", two}});
  bench.job.program_sha256 = one;
  EXPECT_EQ(Why(bench),
            "it needs 1 worker(s) and may have 0; w0: it does not allow the "
            "program resnet; start it with --program resnet=FILE; w1: its "
            "program resnet has the SHA-256 " +
                two + ", and that of the job's first worker has " + one +
                "; give all workers the same file; w2: it does not allow the "
                "program resnet; start it with --program resnet=FILE");
  const auto left_out = [&](const char* name) {
    return WhyLeftOut(bench.job, bench.workers,
                      *bench.workers.FindCurrent(name));
  };
  // A worker that was never set up for the job is no trouble.
  EXPECT_EQ(left_out("w0"), "");
  EXPECT_NE(left_out("w1"), "");
  Allow(bench, "w2", {{"resnet", one}});
  EXPECT_EQ(left_out("w2"), "");
}

TEST(PlacingTest, AWorkerBesideOneThatTrainsAloneSaysWhose) {
  JobBench bench(Wants(3));
  for (const char* name : {"w0", "w1"}) bench.AddWorker(name, "a");
  bench.AddReplica("a", {"w0"});
  const auto beside = [&](const char* name) {
    return WhyBesideOne(bench.job, bench.workers,
                        *bench.workers.FindCurrent(name));
  };
  EXPECT_EQ(beside("w1"), "");
  bench.Facts("w0").trains_alone = true;
  EXPECT_EQ(beside("w0"), "");
  EXPECT_EQ(beside("w1"),
            "its trainer cannot compute with others, and w0 trains for island "
            "a; start it with an --island of its own");
  EXPECT_EQ(Why(bench),
            "it needs 3 worker(s) and may have 1; w1: " + beside("w1"));
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

// A worker that cannot be dialled, or one that takes no streams of such.
void Come(JobBench& bench, const std::string& name, const std::string& island,
          bool outbound_only, bool takes_streams, bool relay = false) {
  StatusFacts status;
  status.self = {name, name + ":1", "", outbound_only, relay};
  status.takes_streams = takes_streams;
  status.takes_relays = takes_streams;
  status.counter = 1;
  bench.Emit(WorkerAdmitted{status.self, Boot(7), island, "test"});
  bench.workers.Heard(status, bench.now);
}

std::string OutOfReach(const JobBench& bench, const std::string& name) {
  return WhyOutOfReach(bench.job.spec, NeededBy(bench.job), bench.workers,
                       *bench.workers.FindCurrent(name));
}

TEST(PlacingTest, OfTwoIslandsThatCannotBeDialledTheFirstTakesPart) {
  JobBench bench(Wants(3));
  Come(bench, "open", "a", false, true);
  Come(bench, "w1", "b", true, true);
  Come(bench, "mate", "b", true, true);
  Come(bench, "w2", "c", true, true);
  EXPECT_EQ(OutOfReach(bench, "open"), "");
  EXPECT_EQ(OutOfReach(bench, "w1"), "");
  EXPECT_EQ(OutOfReach(bench, "mate"), "");
  EXPECT_EQ(OutOfReach(bench, "w2"),
            "it cannot be dialled, and neither can mate of island b, which "
            "came first, so they cannot reach each other; start a worker that "
            "others can dial with --relay, or forward a port to one of the two "
            "and start it without --outbound-only");
  EXPECT_EQ(Why(bench),
            absl::StrCat("it needs 3 worker(s) and may have 3; w2: ",
                         OutOfReach(bench, "w2")));
  EXPECT_EQ(
      WhyLeftOut(bench.job, bench.workers, *bench.workers.FindCurrent("w2")),
      OutOfReach(bench, "w2"));
  // It gets the place when those before it drain.
  bench.Emit(WorkerMarked{"w1", WorkerIntent::kDrain});
  bench.Emit(WorkerMarked{"mate", WorkerIntent::kDrain});
  EXPECT_EQ(OutOfReach(bench, "w2"), "");
}

TEST(PlacingTest, TwoIslandsThatCannotBeDialledTakePartThroughARelay) {
  JobBench bench(Wants(2));
  Come(bench, "w1", "b", true, true);
  Come(bench, "w2", "c", true, true);
  EXPECT_NE(OutOfReach(bench, "w2"), "");
  Come(bench, "hub", "a", false, true, true);
  EXPECT_EQ(OutOfReach(bench, "w2"), "");
  // One of an earlier release knows no relays.
  StatusFacts status;
  status.self.worker = "w1";
  status.counter = 2;
  status.takes_streams = true;
  bench.workers.Heard(status, bench.now);
  EXPECT_EQ(OutOfReach(bench, "w2"),
            "it cannot be dialled, and neither can w1 of island b, which came "
            "first, so they cannot reach each other; install this release on "
            "w1, which uses no relays");
}

// Its process is newer than the one that waits, because it was started again.
TEST(PlacingTest, AWorkerThatCannotBeDialledKeepsItsLife) {
  JobBench bench(Wants(1));
  Come(bench, "waits", "c", true, true);
  Come(bench, "works", "b", true, true);
  EXPECT_NE(OutOfReach(bench, "works"), "");
  bench.Size();
  bench.AddReplica("b", {"works"});
  EXPECT_EQ(OutOfReach(bench, "works"), "");
  EXPECT_NE(OutOfReach(bench, "waits"), "");
}

TEST(PlacingTest, AWorkerThatCannotBeDialledNeedsOthersThatTakeItsStreams) {
  JobBench bench(Wants(2));
  Come(bench, "old", "a", false, false);
  Come(bench, "w1", "b", true, true);
  EXPECT_EQ(OutOfReach(bench, "old"), "");
  EXPECT_EQ(OutOfReach(bench, "w1"),
            "it cannot be dialled, and old of island a takes no streams that "
            "others open; install this release there");
  job::JobSpec alone = bench.job.spec;
  alone.placement.islands = {"b"};
  EXPECT_EQ(WhyOutOfReach(alone, NeededBy(bench.job), bench.workers,
                          *bench.workers.FindCurrent("w1")),
            "");
}

}  // namespace
}  // namespace skerry::coordinator
