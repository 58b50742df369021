#include "coordinator/core/rules/job_rules.h"

#include "coordinator/core/rules/membership.h"
#include "coordinator/core/testing/job_bench.h"
#include "coordinator/core/views/job_view.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using protocol::SeatState;

JobFacts Sized(uint64_t elements) {
  JobFacts facts;
  facts.job = JobId(1);
  facts.state = SeatState::kRecovering;
  facts.element_count = elements;
  return facts;
}

bool Hear(JobBench& bench, const std::string& name, const JobFacts* facts) {
  return HearSeat(bench.job, name, bench.workers.FindCurrent(name)->incarnation,
                  facts, bench.options);
}

TEST(JobRulesTest, TheFirstTrainerSizesTheJobAndAnotherSizeIsUnfit) {
  JobBench bench;
  bench.AddWorker("w0", "a");
  bench.AddWorker("w1", "b");
  const JobFacts first = Sized(8 * 4096);
  const JobFacts other = Sized(9 * 4096);
  Hear(bench, "w0", &first);
  Hear(bench, "w1", &other);
  DecideJob(bench.job, bench.decider());
  ASSERT_EQ(bench.Decided<JobSized>().size(), 1u);
  EXPECT_EQ(bench.job.span_count, 8u);
  EXPECT_EQ(bench.job.seats["w0"].unfit, "");
  EXPECT_NE(bench.job.seats["w1"].unfit, "");
}

TEST(JobRulesTest, ATrainerThatAveragesOtherValuesIsRefused) {
  JobBench bench;
  bench.AddWorker("w0", "a");
  bench.AddWorker("w1", "b");
  bench.AddWorker("w2", "c");
  JobFacts facts = Sized(8 * 4096 + 9);
  facts.average_begin = 8 * 4096;
  Hear(bench, "w0", &facts);
  DecideJob(bench.job, bench.decider());
  EXPECT_EQ(bench.job.average_begin, 8u * 4096);
  EXPECT_EQ(bench.job.span_count, 8u);
  EXPECT_EQ(ElementsOf(bench.job, 0), 8u * 4096 + 9);
  facts.average_begin = 0;  // also what an older worker says
  Hear(bench, "w1", &facts);
  facts.average_begin = 4097;
  Hear(bench, "w2", &facts);
  EXPECT_EQ(bench.job.seats["w0"].unfit, "");
  EXPECT_NE(bench.job.seats["w1"].unfit.find(
                "averaged values from element 0 on, where the job's first has "
                "them from 32768"),
            std::string::npos)
      << bench.job.seats["w1"].unfit;
  EXPECT_NE(bench.job.seats["w2"].unfit.find("where no span can begin"),
            std::string::npos)
      << bench.job.seats["w2"].unfit;
}

// Both begin at equal sequences, and would average values that have nothing to
// do with each other.
TEST(JobRulesTest, ATrainerThatBeginsWithOtherValuesIsRefused) {
  JobBench bench;
  bench.AddWorker("w0", "a");
  bench.AddWorker("w1", "b");
  bench.AddWorker("w2", "c");
  JobFacts facts = Sized(8 * 4096);
  facts.initial_hash = 7;
  facts.layout_hash = 70;
  Hear(bench, "w0", &facts);
  DecideJob(bench.job, bench.decider());
  facts.initial_hash = 8;
  Hear(bench, "w1", &facts);
  facts.initial_hash = 7;
  facts.layout_hash = 71;
  Hear(bench, "w2", &facts);
  DecideJob(bench.job, bench.decider());
  EXPECT_EQ(bench.job.seats["w0"].unfit, "");
  EXPECT_EQ(bench.job.seats["w1"].unfit,
            "its trainer begins with other values than the job's first (hash "
            "0000000000000008, not 0000000000000007); install the same trainer "
            "on all workers, or start the job from a checkpoint");
  EXPECT_NE(bench.job.seats["w2"].unfit.find("another order or shape"),
            std::string::npos);
  EXPECT_EQ(PlaceOf(bench.job, "b", "w1"), nullptr);
}

TEST(JobRulesTest, InitialValuesMayDifferWhereTheyAreNotKnownOrNotUsed) {
  job::JobSpec spec = job::SmallJob("bench", 1000);
  spec.model.checkpoint = job::JobSpec::Checkpoint{
      "/saved", "checkpoint-4", std::string(64, 'a'), job::Samples::kAnew, {}};
  for (const bool from_checkpoint : {true, false}) {
    JobBench bench(from_checkpoint ? spec : job::SmallJob("bench", 1000));
    bench.AddWorker("w0", "a");
    bench.AddWorker("w1", "b");
    JobFacts facts = Sized(8 * 4096);
    facts.initial_hash = 7;
    Hear(bench, "w0", &facts);
    DecideJob(bench.job, bench.decider());
    facts.initial_hash = from_checkpoint ? 8 : 0;
    Hear(bench, "w1", &facts);
    EXPECT_EQ(bench.job.seats["w1"].unfit, "");
  }
}

TEST(JobRulesTest, ARepeatedStatusAsksForNoDecision) {
  JobBench bench;
  bench.AddWorker("w0", "a");
  JobFacts facts = Sized(8 * 4096);
  EXPECT_TRUE(Hear(bench, "w0", &facts));
  facts.counters.samples = 9;
  EXPECT_FALSE(Hear(bench, "w0", &facts));
  EXPECT_EQ(bench.job.seats["w0"].facts.counters.samples, 9u);
  EXPECT_TRUE(Hear(bench, "w0", nullptr));
}

TEST(JobRulesTest, AJobFailsWhenEveryWorkerHas) {
  JobBench bench;
  bench.AddWorker("w0", "a");
  bench.AddWorker("w1", "b");
  JobFacts facts;
  facts.state = SeatState::kFailed;
  facts.error = "config.json: unknown family";
  Hear(bench, "w0", &facts);
  DecideJob(bench.job, bench.decider());
  EXPECT_FALSE(bench.job.Ended());
  Hear(bench, "w1", &facts);
  DecideJob(bench.job, bench.decider());
  EXPECT_EQ(bench.job.phase, JobPhase::kFailed);
  EXPECT_NE(bench.job.end_reason.find("unknown family"), std::string::npos);
}

// Workers that do not allow the program could never serve the job.
TEST(JobRulesTest, AJobOfAProgramFailsWhenEveryWorkerThatHasItFailed) {
  JobBench bench(job::ProgramJob("bench", 1000));
  bench.AddWorker("w0", "a");
  bench.AddWorker("w1", "b");
  bench.AddWorker("w2", "c");
  for (const char* name : {"w0", "w1"}) {
    StatusFacts status;
    status.self.worker = name;
    status.counter = 2;
    status.programs = {{"resnet", std::string(64, 'a')}};
    bench.workers.Heard(status, bench.now);
  }
  JobFacts facts;
  facts.state = SeatState::kFailed;
  facts.error = "RuntimeError: size mismatch (train.py:44)";
  Hear(bench, "w0", &facts);
  DecideJob(bench.job, bench.decider());
  EXPECT_FALSE(bench.job.Ended());
  Hear(bench, "w1", &facts);
  DecideJob(bench.job, bench.decider());
  EXPECT_EQ(bench.job.phase, JobPhase::kFailed);
  EXPECT_EQ(bench.job.end_reason,
            "every worker has failed; w0: RuntimeError: size mismatch "
            "(train.py:44)");
}

// What a trainer measures changes with every round and decides nothing.
TEST(JobRulesTest, MetricsAskForNoDecisionAndComputingAloneDoes) {
  JobBench bench;
  bench.AddWorker("w0", "a");
  JobFacts facts = Sized(8 * 4096);
  EXPECT_TRUE(Hear(bench, "w0", &facts));
  facts.metrics["accuracy"] = 0.5;
  EXPECT_FALSE(Hear(bench, "w0", &facts));
  EXPECT_EQ(bench.job.seats["w0"].facts.metrics.at("accuracy"), 0.5);
  facts.trains_alone = true;
  bench.job.places_stale = false;
  EXPECT_TRUE(Hear(bench, "w0", &facts));
  EXPECT_TRUE(bench.job.places_stale);
}

// It would otherwise be lost to a disk that was full for a moment.
TEST(JobRulesTest, AJobWaitsForWorkersThatTryAgain) {
  JobBench bench;
  bench.AddWorker("w0", "a");
  bench.AddWorker("w1", "b");
  JobFacts facts = Sized(8 * 4096);
  facts.state = SeatState::kStarting;
  facts.error = "disk: full";
  Hear(bench, "w0", &facts);
  Hear(bench, "w1", &facts);
  DecideJob(bench.job, bench.decider());
  EXPECT_FALSE(bench.job.Ended());
  EXPECT_EQ(bench.job.seats["w0"].unfit, "disk: full");
  EXPECT_TRUE(bench.job.places.empty());
  facts.error.clear();
  Hear(bench, "w0", &facts);
  DecideJob(bench.job, bench.decider());
  EXPECT_NE(PlaceOf(bench.job, "a", "w0"), nullptr);
}

TEST(JobRulesTest, AnIdleJobHasNothingDue) {
  JobBench bench;
  DecideJob(bench.job, bench.decider());
  Earliest due(bench.job.decided_at);
  CollectJob(bench.job, bench.options, due);
  EXPECT_FALSE(due.found().has_value());
}

TEST(JobViewTest, AJobWithoutAHolderSaysWhichSpansItWaitsFor) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"w0"});
  bench.Offer("w0", 1, 0, {0, 8});
  DecideJob(bench.job, bench.decider());
  bench.Report("w0", 7);
  DecideJob(bench.job, bench.decider());
  ASSERT_EQ(bench.job.fragments[0].newest(), Sequence(1));
  // Within one sequence of the newest is near enough, so take one more away.
  bench.Offer("w0", 2, 1, {8, 16});
  DecideJob(bench.job, bench.decider());
  bench.Report("w0", 8);
  DecideJob(bench.job, bench.decider());
  EndLife(bench.job, bench.decider(), life, "gone");
  bench.job.seats = {};
  const JobView view = ViewOf(bench.job, bench.workers, bench.options, Turn(),
                              Revision(9), bench.now);
  EXPECT_NE(view.reason.find("spans 0 to 8 at sequence 2"), std::string::npos)
      << view.reason;
  EXPECT_EQ(view.losses.size(), 2u);
  EXPECT_EQ(view.samples_committed, 16u);
}

TEST(JobViewTest, AWaitingJobSaysForWhat) {
  JobBench bench;
  const JobView view = ViewOf(bench.job, bench.workers, bench.options, Turn(),
                              Revision(1), bench.now);
  EXPECT_EQ(view.phase, JobPhase::kPending);
  EXPECT_NE(view.reason.find("it needs 1 worker"), std::string::npos);
}

}  // namespace
}  // namespace skerry::coordinator
