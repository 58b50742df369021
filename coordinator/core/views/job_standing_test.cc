#include "coordinator/core/views/job_standing.h"

#include "absl/strings/str_cat.h"
#include "coordinator/core/rules/checkpoints.h"
#include "coordinator/core/rules/divergence.h"
#include "coordinator/core/testing/job_bench.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using protocol::SeatState;

using testing::HasSubstr;

job::JobSpec Spec() { return job::SmallJob("bench", 1000); }

job::JobSpec CheckpointedSpec() {
  job::JobSpec spec = Spec();
  spec.checkpoint = job::JobSpec::Checkpoints();
  spec.checkpoint->directory = "/checkpoints";
  return spec;
}

Turn First() {
  Turn turn;
  turn.position = turn.length = 1;
  return turn;
}

Standing Of(const JobBench& bench, const Turn& turn = First()) {
  return StandingOf(bench.job, bench.workers, bench.options, turn, bench.now);
}

// One condition comes first, and its words are the reason's.
void ExpectStands(const Standing& standing, ConditionKind kind,
                  const std::string& reason, bool needs_help) {
  EXPECT_EQ(standing.reason, reason);
  ASSERT_FALSE(standing.conditions.empty());
  EXPECT_EQ(standing.conditions[0].kind, kind);
  EXPECT_EQ(standing.conditions[0].text, reason);
  EXPECT_EQ(standing.conditions[0].needs_help, needs_help);
}

void ExpectMoves(const Standing& standing, const std::string& reason) {
  EXPECT_EQ(standing.reason, reason);
  EXPECT_TRUE(standing.conditions.empty());
}

void PlaceWorker(JobBench& bench, const std::string& name,
                 const std::string& island) {
  Place& place = bench.job.places[island];
  place.incarnations.push_back(bench.AddWorker(name, island));
  place.workers.push_back(name);
}

void Mark(JobBench& bench, const std::string& name, WorkerIntent intent) {
  bench.Emit(WorkerMarked{name, intent});
}

// The only replica's first exchange is committed.
void CommitAlone(JobBench& bench, const std::string& worker) {
  bench.Offer(worker, 1, 0, {0, 8});
  const Replica& replica = *bench.job.replicas.FindWorker(worker);
  Opened opened;
  opened.job = bench.job.id;
  opened.sequence = Sequence(1);
  opened.members.push_back({replica.replica, replica.life,
                            *bench.Fragment(worker).ready, replica.holders});
  opened.owners.assign(8, 0);
  opened.total_weight = 8;
  bench.Emit(opened);
  bench.Report(worker, 77);
  Committed committed;
  committed.job = bench.job.id;
  committed.sequence = Sequence(1);
  committed.attempt = bench.job.fragments[0].open()->attempt;
  committed.hashes.assign(8, 77);
  committed.total_weight = 8;
  bench.Emit(committed);
}

TEST(JobStandingTest, AJobThatTrainsMoves) {
  JobBench bench;
  bench.AddReplica("a", {"wa"});
  bench.AddReplica("b", {"wb"});
  ExpectMoves(Of(bench), "2 replica(s) compute");
}

TEST(JobStandingTest, AnEndedJobSaysHowItEnded) {
  JobBench bench;
  bench.Emit(JobEnded{bench.job.id, JobPhase::kSucceeded, "all is trained"});
  ExpectMoves(Of(bench), "all is trained");
}

TEST(JobStandingTest, Paused) {
  JobBench bench;
  bench.AddReplica("a", {"wa"});
  bench.Emit(JobPaused{bench.job.id, true});
  ExpectStands(Of(bench), ConditionKind::kPaused,
               "paused by the operator; 1 replica(s) deliver what they owe and "
               "keep their state",
               false);
}

TEST(JobStandingTest, WorkersWithAnotherHistory) {
  JobBench bench;
  bench.AddReplica("a", {"wa"});
  bench.job.diverged = Diverged{bench.job.id, "wa", "another journal"};
  const Standing standing = Of(bench);
  ASSERT_EQ(standing.conditions.size(), 1u);
  EXPECT_EQ(standing.conditions[0].kind, ConditionKind::kDiverged);
  EXPECT_TRUE(standing.conditions[0].needs_help);
  EXPECT_EQ(standing.reason, DivergenceText(bench.job, bench.workers));
}

TEST(JobStandingTest, QueuedBehindAQuota) {
  JobBench bench;
  bench.AddWorker("wa", "a");
  Turn turn = First();
  turn.held = "the quota of owner o is 1 job(s) at a time, and 1 come(s) first";
  ExpectStands(Of(bench, turn), ConditionKind::kQueued,
               "waits as number 1 of 1: the quota of owner o is 1 job(s) at a "
               "time, and 1 come(s) first",
               false);
}

TEST(JobStandingTest, QueuedBehindOtherJobs) {
  JobBench bench;
  bench.AddWorker("wa", "a");
  Turn turn = First();
  turn.before["a"] = 4;
  ExpectStands(Of(bench, turn), ConditionKind::kQueued,
               "waits as number 1 of 1: it needs 1 worker(s) and may have 0; "
               "wa: 4 job(s) come first on island a, and a worker takes 4",
               false);
}

TEST(JobStandingTest, TooFewWorkersToBegin) {
  job::JobSpec spec = Spec();
  spec.placement.workers_min = 2;
  JobBench bench(spec);
  bench.AddWorker("wa", "a");
  bench.AddWorker("wb", "b");
  Mark(bench, "wb", WorkerIntent::kCordon);
  ExpectStands(Of(bench), ConditionKind::kTooFewWorkers,
               "waits as number 1 of 1: it needs 2 worker(s) and may have 1; "
               "wb: it is cordoned",
               true);
}

TEST(JobStandingTest, NoTrainerYet) {
  JobBench bench;
  PlaceWorker(bench, "wa", "a");
  ExpectStands(Of(bench), ConditionKind::kStarting, "trainers are starting",
               false);
}

TEST(JobStandingTest, NoTrainerAndAWorkerSaysWhy) {
  JobBench bench;
  PlaceWorker(bench, "wa", "a");
  bench.Facts("wa").error = "the trainer was killed";
  ExpectStands(Of(bench), ConditionKind::kWorkerTrouble,
               "trainers are starting; wa: the trainer was killed", true);
}

TEST(JobStandingTest, NoDataThere) {
  JobBench bench;
  bench.AddWorker("wa", "a");
  JobFacts& facts = bench.Facts("wa");
  facts.state = SeatState::kFailed;
  facts.error = "/data/manifest.json: no such file";
  bench.job.seats["wa"].unfit = facts.error;
  const Standing standing = Of(bench);
  EXPECT_EQ(standing.reason,
            "waits as number 1 of 1: it needs 1 worker(s) and may have 0; wa "
            "failed: /data/manifest.json: no such file");
  EXPECT_EQ(standing.conditions.back().kind, ConditionKind::kWorkerTrouble);
  EXPECT_EQ(standing.conditions.back().text,
            "worker wa: /data/manifest.json: no such file");
}

TEST(JobStandingTest, AWorkerStillFetchesItsData) {
  constexpr char kNews[] = "its data are still being fetched from worker wb";
  JobBench bench;
  PlaceWorker(bench, "wa", "a");
  bench.Facts("wa").trainer_trouble = kNews;
  ExpectStands(Of(bench), ConditionKind::kStarting,
               absl::StrCat("trainers are starting; wa: ", kNews), false);
  bench.Size();
  ExpectStands(
      Of(bench), ConditionKind::kRecovering,
      absl::StrCat("workers are recovering the initial state; wa: ", kNews),
      false);
}

// The workers that trained it are gone.
TEST(JobStandingTest, TheOnlyWorkerStillFetchesItsData) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"wa"});
  bench.Emit(ReplicaEnded{bench.job.id, life, "wa was lost"});
  PlaceWorker(bench, "wb", "b");
  bench.Facts("wb").trainer_trouble =
      "its data are still being fetched from worker wc";
  ExpectStands(Of(bench), ConditionKind::kRecovering,
               "no replica is admitted; workers are recovering; island b: wb "
               "starts its trainer: its data are still being fetched from "
               "worker wc",
               false);
}

TEST(JobStandingTest, RecoveringTheInitialState) {
  JobBench bench;
  bench.Size();
  PlaceWorker(bench, "wa", "a");
  ExpectStands(Of(bench), ConditionKind::kRecovering,
               "workers are recovering the initial state", false);
}

TEST(JobStandingTest, RecoveringSaysHowFarEachWorkerIs) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"wa"});
  bench.Emit(ReplicaEnded{bench.job.id, life, "its trainer died"});
  PlaceWorker(bench, "wb", "b");
  bench.Facts("wb").state = SeatState::kRecovering;
  ExpectStands(
      Of(bench), ConditionKind::kRecovering,
      "no replica is admitted; workers are recovering; island b: wb is "
      "at sequence 0 of 0",
      false);
}

TEST(JobStandingTest, AnIslandWaitsForALostWorker) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"wa", "wb"});
  bench.Emit(ReplicaEnded{bench.job.id, life, "wb was lost"});
  bench.job.settling["a"] = {bench.now + absl::Milliseconds(1500),
                             {"wa", "wb"}};
  ExpectStands(Of(bench), ConditionKind::kRecovering,
               "no replica is admitted; workers are recovering; island a waits "
               "2s for wa, wb to be complete again",
               false);
}

TEST(JobStandingTest, NobodyTrainsIt) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"wa"});
  bench.AddWorker("wb", "b");
  bench.Emit(ReplicaEnded{bench.job.id, life, "wa drains"});
  bench.Fragment("wb").anchor_hashes.assign(8, 5);
  Mark(bench, "wa", WorkerIntent::kDrain);
  Mark(bench, "wb", WorkerIntent::kCordon);
  ExpectStands(Of(bench), ConditionKind::kTooFewWorkers,
               "nobody trains it: it needs 1 worker(s) and may have 0; wa: it "
               "drains; wb: it is cordoned",
               true);
}

TEST(JobStandingTest, EveryReplicaDrains) {
  JobBench bench;
  bench.AddReplica("a", {"wa"});
  Mark(bench, "wa", WorkerIntent::kDrain);
  ExpectStands(Of(bench), ConditionKind::kDraining,
               "every replica drains: wa leave(s), and no other worker takes "
               "over",
               false);
}

TEST(JobStandingTest, EveryReplicaIsSilent) {
  JobBench bench;
  bench.AddReplica("a", {"wa"});
  bench.workers.LoseStream("wa", bench.workers.FindCurrent("wa")->boot,
                           bench.now);
  ExpectStands(Of(bench), ConditionKind::kSilent,
               "every replica is silent; nothing is heard of wa", true);
}

TEST(JobStandingTest, SpansThatNobodyHolds) {
  JobBench bench;
  const Life life = bench.AddReplica("a", {"wa"});
  CommitAlone(bench, "wa");
  bench.Emit(ReplicaEnded{bench.job.id, life, "its disk is gone"});
  bench.job.seats = {};
  const Standing standing = Of(bench);
  EXPECT_EQ(standing.conditions[0].kind, ConditionKind::kSpansLost);
  EXPECT_TRUE(standing.conditions[0].needs_help);
  EXPECT_THAT(standing.reason,
              HasSubstr("no worker that is there holds spans 0 to "));
  EXPECT_THAT(standing.reason,
              HasSubstr("there is no checkpoint to go back to"));
}

// The checkpoint that the job went back to is gone from the folder, or no
// worker can read it.
TEST(JobStandingTest, SpansThatNobodyHoldsAfterAWayBack) {
  JobBench bench(CheckpointedSpec());
  const Life life = bench.AddReplica("a", {"wa"});
  CommitAlone(bench, "wa");
  bench.Emit(Checkpointed{bench.job.id,
                          Sequence(1),
                          "wa",
                          std::string(64, 'a'),
                          100,
                          "",
                          {{0, 8}}});
  bench.Emit(ReplicaEnded{bench.job.id, life, "its disk is gone"});
  bench.job.seats = {};
  EXPECT_THAT(Of(bench).reason, HasSubstr("or goes back to checkpoint-1"));
  bench.Emit(Restored{bench.job.id, Sequence(2), Sequence(1), "lost"});
  const Standing standing = Of(bench);
  EXPECT_EQ(standing.conditions[0].kind, ConditionKind::kSpansLost);
  EXPECT_THAT(
      standing.reason,
      HasSubstr("It went back to checkpoint-1, and no worker that is there has "
                "that state; go back to another one that the folder has: "
                "skerryctl restore bench --checkpoint newest"));
}

TEST(JobStandingTest, CommitsPauseForAJoiner) {
  JobBench bench;
  bench.AddReplica("a", {"wa"});
  PlaceWorker(bench, "wb", "b");
  bench.Facts("wb").state = SeatState::kRecovering;
  Chase chase;
  chase.stage = Chase::Stage::kAwaited;
  chase.since = chase.awaited_since = bench.now;
  chase.allowed = absl::Seconds(60);
  bench.job.places["b"].chase = chase;
  ExpectStands(
      Of(bench), ConditionKind::kAwaitsJoiner,
      "commits pause so that a joiner can catch up; island b: wb is at "
      "sequence 0 of 0",
      false);
}

TEST(JobStandingTest, NobodyCanEvaluateTheFinalAnchor) {
  JobBench bench(job::SmallJob("bench", 8));
  bench.AddReplica("a", {"wa"});
  CommitAlone(bench, "wa");
  ExpectStands(Of(bench), ConditionKind::kNoEvaluator,
               "every sample is committed; no worker can evaluate", false);
  bench.job.evaluator = "wa";
  ExpectMoves(Of(bench), "worker wa evaluates the final anchor");
}

TEST(JobStandingTest, MinReplicasThatCannotBeReached) {
  job::JobSpec spec = Spec();
  spec.exchange.min_replicas = 50;
  JobBench bench(spec);
  bench.AddReplica("a", {"wa"});
  bench.AddReplica("b", {"wb"});
  ExpectStands(Of(bench), ConditionKind::kTooFewReplicas,
               "exchange.min_replicas is 50, and workers of 2 island(s) may "
               "work on it: no exchange opens before there are more islands; "
               "add workers of another island, or submit it with a smaller "
               "min_replicas",
               true);
}

TEST(JobStandingTest, MinReplicasThatAreOnTheirWay) {
  job::JobSpec spec = Spec();
  spec.exchange.min_replicas = 2;
  JobBench bench(spec);
  bench.AddReplica("a", {"wa"});
  PlaceWorker(bench, "wb", "b");
  bench.Facts("wb").state = SeatState::kRecovering;
  ExpectStands(Of(bench), ConditionKind::kTooFewReplicas,
               "exchange.min_replicas is 2 and 1 replica(s) are admitted; "
               "island b: wb is at sequence 0 of 0",
               false);
}

TEST(JobStandingTest, AnExchangeThatIsOpenedAgainAndAgain) {
  JobBench bench;
  bench.AddReplica("a", {"wa"});
  bench.Offer("wa", 1, 0, {0, 8});
  const Replica& replica = *bench.job.replicas.FindWorker("wa");
  Opened opened;
  opened.job = bench.job.id;
  opened.sequence = Sequence(1);
  opened.members.push_back({replica.replica, replica.life,
                            *bench.Fragment("wa").ready, replica.holders});
  opened.owners.assign(8, 0);
  opened.total_weight = 8;
  opened.reason = "why";
  bench.Emit(opened);
  ExpectMoves(Of(bench), "exchange 1, try 1: why");
  bench.Emit(opened);
  bench.Emit(opened);
  ExpectStands(Of(bench), ConditionKind::kExchangeFails,
               "exchange 1, try 3: why", false);
}

TEST(JobStandingTest, AFolderThatNobodyCanSaveTo) {
  JobBench bench(CheckpointedSpec());
  bench.Size();
  PlaceWorker(bench, "wa", "a");
  bench.Facts("wa").checkpoint_trouble =
      "checkpoint.directory /checkpoints: Read-only file system";
  const Standing standing = Of(bench);
  ExpectStands(standing, ConditionKind::kCheckpointFolder,
               "no worker can save checkpoints; wa: checkpoint.directory "
               "/checkpoints: Read-only file system",
               true);
  // One that can is enough to begin with.
  PlaceWorker(bench, "wb", "b");
  bench.Facts("wb");
  EXPECT_EQ(CheckpointFolderTrouble(bench.job), "");
}

TEST(JobStandingTest, ASaveThatFails) {
  JobBench bench(CheckpointedSpec());
  bench.AddReplica("a", {"wa"});
  Checkpointed failed;
  failed.job = bench.job.id;
  failed.sequence = Sequence(7);
  failed.worker = "wa";
  failed.error = "No space left on device";
  bench.Emit(failed);
  const Standing standing = Of(bench);
  EXPECT_EQ(standing.reason, "1 replica(s) compute");
  ASSERT_EQ(standing.conditions.size(), 1u);
  EXPECT_EQ(standing.conditions[0].kind, ConditionKind::kCheckpointFails);
  EXPECT_TRUE(standing.conditions[0].needs_help);
  EXPECT_EQ(standing.conditions[0].text,
            "the state at sequence 7 was not saved by worker wa: No space left "
            "on device; there is no checkpoint");
  // It stays after the job's end.
  bench.Emit(JobEnded{bench.job.id, JobPhase::kSucceeded, "all is trained"});
  EXPECT_EQ(Of(bench).conditions.size(), 1u);
}

TEST(JobStandingTest, ASaverThatWasLostIsNoFaultOfTheFolder) {
  JobBench bench(CheckpointedSpec());
  bench.AddReplica("a", {"wa"});
  Checkpointed failed;
  failed.job = bench.job.id;
  failed.sequence = Sequence(7);
  failed.worker = "wa";
  failed.error = kSaverLost;
  bench.Emit(failed);
  ExpectMoves(Of(bench), "1 replica(s) compute");
}

TEST(JobStandingTest, AWorkerInTroubleIsNamedWhileOthersTrain) {
  JobBench bench;
  bench.AddReplica("a", {"wa"});
  bench.AddWorker("wb", "b");
  bench.Facts("wb").error = "disk: no space left";
  const Standing standing = Of(bench);
  EXPECT_EQ(standing.reason, "1 replica(s) compute");
  ASSERT_EQ(standing.conditions.size(), 1u);
  EXPECT_EQ(standing.conditions[0].text, "worker wb: disk: no space left");
}

TEST(JobStandingTest, AWorkerWithAnotherProgramIsAProblemOfItsJob) {
  JobBench bench(job::ProgramJob("bench", 1000));
  bench.AddReplica("a", {"wa"});
  bench.AddWorker("wb", "b");
  bench.AddWorker("wc", "c");
  StatusFacts status;
  status.self.worker = "wb";
  status.counter = 2;
  status.programs = {{"resnet", std::string(64, 'b')}};
  bench.workers.Heard(status, bench.now);
  bench.job.program_sha256 = std::string(64, 'a');
  const Standing standing = Of(bench);
  EXPECT_EQ(standing.reason, "1 replica(s) compute");
  ASSERT_EQ(standing.conditions.size(), 1u);
  EXPECT_EQ(standing.conditions[0].kind, ConditionKind::kWorkerTrouble);
  EXPECT_EQ(standing.conditions[0].text,
            "worker wb: its program resnet has the SHA-256 " +
                std::string(64, 'b') +
                ", and that of the job's first worker "
                "has " +
                std::string(64, 'a') + "; give all workers the same file");
}

}  // namespace
}  // namespace skerry::coordinator
