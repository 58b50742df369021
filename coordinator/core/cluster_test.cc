#include "coordinator/core/cluster.h"

#include "coordinator/core/testing/orders_of.h"
#include "gtest/gtest.h"
#include "job/checkpoint_owner.h"
#include "job/review.h"
#include "job/testing/specs.h"

namespace skerry::coordinator {
namespace {

const Instant kStart(absl::Seconds(1));

StatusFacts From(const std::string& name, uint64_t boot, uint64_t incarnation,
                 uint64_t counter = 1) {
  StatusFacts status;
  status.self = {name, name + ":1", ""};
  status.island = "a";
  status.boot = Boot(boot);
  status.folder = FolderId(1);
  status.incarnation = Incarnation(incarnation);
  status.counter = counter;
  return status;
}

Cluster Fresh(const ClusterOptions& options = {}) {
  Cluster cluster(options);
  cluster.Recovered(kStart);
  return cluster;
}

TEST(ClusterTest, NumbersAreIndexesOfTheJournal) {
  Cluster cluster = Fresh();
  ASSERT_TRUE(cluster.OnStatus(From("w", 9, 0), kStart).ok());
  const auto job = cluster.Submit(job::SmallJob("job", 100), "key", kStart);
  ASSERT_TRUE(job.ok());
  const auto records = cluster.TakeRecords();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].index, Revision(1));
  EXPECT_EQ(job->job, JobId(2));
  const auto orders = OrdersOf(cluster, "w", kStart);
  ASSERT_TRUE(orders.ok());
  EXPECT_EQ(orders->revision, Revision(2));
  EXPECT_EQ(orders->incarnation, Incarnation(1));
  EXPECT_EQ(orders->jobs.size(), 1u);
}

// Worker w trains job 3 in life 5; `more` are the records after that.
Cluster WithALife(const std::vector<Record>& more = {}) {
  const StatusFacts w = From("w", 9, 0);
  const StatusFacts other = From("v", 8, 0);
  Cluster cluster((ClusterOptions()));
  std::vector<Record> records = {
      WorkerAdmitted{w.self, w.boot, "a", "", w.folder, {}},
      WorkerAdmitted{other.self, other.boot, "b", "", other.folder, {}},
      JobSubmitted{job::SmallJob("job", 100), "key"},
      JobSized{JobId(3), 64, 100, 1, 0},
      ReplicaAdmitted{
          JobId(3), ReplicaId(1), "a", {{0, 1, w.self}}, {Incarnation(1)}}};
  records.insert(records.end(), more.begin(), more.end());
  uint64_t index = 0;
  for (const Record& record : records) {
    const absl::Status applied = cluster.Apply({Revision(++index), record});
    EXPECT_TRUE(applied.ok()) << applied;
  }
  cluster.Recovered(kStart);
  return cluster;
}

// What the worker tells of itself while it is in that life.
StatusFacts InLife(uint64_t counter, uint64_t seen) {
  StatusFacts status = From("w", 9, 1, counter);
  status.seen = Revision(seen);
  status.jobs.resize(1);
  status.jobs[0].job = JobId(3);
  status.jobs[0].life = Life(5);
  status.jobs[0].state = protocol::SeatState::kActive;
  status.jobs[0].element_count = 64;
  return status;
}

template <typename T>
const T* FindRecord(const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    if (const T* found = std::get_if<T>(&entry.record)) return found;
  }
  return nullptr;
}

TEST(ClusterTest, ALifeEndsWhoseWorkerHasHeardOfLostRecords) {
  Cluster cluster = WithALife();
  ASSERT_TRUE(cluster.OnStatus(InLife(7, 20), kStart).ok());
  const auto records = cluster.TakeRecords();
  ASSERT_NE(FindRecord<NumbersRaised>(records), nullptr);
  EXPECT_GT(cluster.revision(), Revision(20));
  const auto* ended = FindRecord<ReplicaEnded>(records);
  ASSERT_NE(ended, nullptr);
  EXPECT_EQ(ended->life, Life(5));
  EXPECT_EQ(ended->reason,
            "worker w has heard of record 20 of a journal that ended later");
}

// Others may have had so many records written since that its number is there
// again.
TEST(ClusterTest, AWorkerThatSpeaksLateIsStillSeenToKnowLostRecords) {
  Cluster cluster = WithALife();
  cluster.TakeRecords();
  ASSERT_TRUE(cluster.OnStatus(From("v", 10, 0), kStart).ok());
  ASSERT_TRUE(cluster.OnStatus(From("v", 11, 0), kStart).ok());
  cluster.TakeRecords();
  ASSERT_GE(cluster.revision(), Revision(7));
  ASSERT_TRUE(cluster.OnStatus(InLife(7, 7), kStart).ok());
  const auto records = cluster.TakeRecords();
  EXPECT_NE(FindRecord<NumbersRaised>(records), nullptr);
  EXPECT_NE(FindRecord<ReplicaEnded>(records), nullptr);
}

TEST(ClusterTest, ALifeGoesOnWhoseWorkerKnowsWhatTheJournalHas) {
  Cluster cluster = WithALife();
  ASSERT_TRUE(cluster.OnStatus(InLife(7, 5), kStart).ok());
  // This process has told it of newer records since.
  ASSERT_TRUE(
      cluster.OnStatus(InLife(8, cluster.revision().value()), kStart).ok());
  const auto records = cluster.TakeRecords();
  EXPECT_EQ(FindRecord<NumbersRaised>(records), nullptr);
  EXPECT_EQ(FindRecord<ReplicaEnded>(records), nullptr);
}

// Records 6 to 8: life 5 gets its first samples and exchanges them alone.
std::vector<Record> Exchanged(uint64_t samples) {
  Opened opened;
  opened.job = JobId(3);
  opened.sequence = Sequence(1);
  Member& member = opened.members.emplace_back();
  member.replica = ReplicaId(1);
  member.life = Life(5);
  member.holders = {{0, 1, From("w", 9, 0).self}};
  member.contribution.round = Round(1);
  opened.total_weight = static_cast<double>(samples);
  member.contribution.weight = opened.total_weight;
  member.contribution.ranges = data::RangeSet(data::SampleRange{0, samples});
  opened.owners = {0};
  Committed committed;
  committed.job = opened.job;
  committed.sequence = opened.sequence;
  committed.attempt = Attempt(7);
  committed.total_weight = opened.total_weight;
  committed.hashes = {7};
  return {Granted{JobId(3), Life(5), {{0, samples}}}, opened, committed};
}

void StoresTheFirstCommit(uint64_t anchor_hash, protocol::JobFacts& facts) {
  facts.job = JobId(3);
  facts.element_count = 64;
  FragmentFacts& fragment = facts.fragments.emplace_back();
  fragment.applied = fragment.stored_through = Sequence(1);
  fragment.anchor_hashes = {anchor_hash};
}

TEST(ClusterTest, AJobFailsWhenWorkersSayThatItsModelsDiffer) {
  Cluster cluster = WithALife(Exchanged(100));
  StatusFacts w = InLife(7, 8);
  StoresTheFirstCommit(5, w.jobs[0]);
  StatusFacts v = From("v", 8, 2);
  v.island = "b";
  v.jobs.emplace_back().state = protocol::SeatState::kRecovering;
  StoresTheFirstCommit(6, v.jobs[0]);
  ASSERT_TRUE(cluster.OnStatus(v, kStart).ok());
  EXPECT_EQ(FindRecord<JobEnded>(cluster.TakeRecords()), nullptr);
  ASSERT_TRUE(cluster.OnStatus(w, kStart).ok());
  const auto records = cluster.TakeRecords();
  const auto* ended = FindRecord<JobEnded>(records);
  ASSERT_NE(ended, nullptr);
  EXPECT_EQ(ended->phase, protocol::JobPhase::kFailed);
  EXPECT_TRUE(ended->reason.starts_with(
      "all samples are committed, but the models differ: span 0 of "))
      << ended->reason;
}

// Its disk may be the only one with the newest result, and nobody else is asked
// while an operator has it drained.
TEST(ClusterTest, ADrainedWorkerServesWhatNobodyElseHolds) {
  Cluster cluster = WithALife(Exchanged(8));
  cluster.TakeRecords();
  // It has started anew, and says which folders its disk has.
  StatusFacts status = From("w", 12, 0);
  status.draining = true;
  status.stored.all.push_back(
      {{JobId(3), OrdersOf(cluster, "w", kStart)->jobs[0].uid}});
  ASSERT_TRUE(cluster.OnStatus(status, kStart).ok());
  cluster.TakeRecords();
  const auto orders = OrdersOf(cluster, "w", kStart);
  EXPECT_FALSE(orders->released);
  ASSERT_EQ(orders->jobs.size(), 1u);
  EXPECT_FALSE(orders->jobs[0].life.is_set());
  // One that has no folder of the job may go.
  StatusFacts empty = From("v", 13, 0);
  empty.draining = true;
  empty.drain_reason = "notice of gcp";
  ASSERT_TRUE(cluster.OnStatus(empty, kStart).ok());
  cluster.TakeRecords();
  EXPECT_TRUE(OrdersOf(cluster, "v", kStart)->released);
  EXPECT_EQ(cluster.ViewWorker("w", kStart)->state, "draining");
  EXPECT_EQ(cluster.ViewWorker("v", kStart)->state, "drained");
  EXPECT_EQ(cluster.ViewWorker("v", kStart)->drain_reason, "notice of gcp");
  // The notice is withdrawn: a new boot drains no more.
  ASSERT_TRUE(cluster.OnStatus(From("v", 14, 0), kStart).ok());
  cluster.TakeRecords();
  EXPECT_EQ(cluster.ViewWorker("v", kStart)->state, "connected");
  EXPECT_EQ(cluster.ViewWorker("v", kStart)->drain_reason, "");
}

TEST(ClusterTest, ASubmissionCanBeRepeatedAndItsKeyIsUsedOnce) {
  Cluster cluster = Fresh();
  const job::JobSpec spec = job::SmallJob("job", 100);
  const auto first = cluster.Submit(spec, "key", kStart);
  EXPECT_EQ(cluster.Submit(spec, "key", kStart)->job, first->job);
  EXPECT_EQ(cluster.TakeRecords().size(), 1u);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      cluster.Submit(job::SmallJob("job", 200), "key", kStart).status()));
  EXPECT_TRUE(
      absl::IsAlreadyExists(cluster.Submit(spec, "other", kStart).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(cluster.Submit(spec, "", kStart).status()));
}

TEST(ClusterTest, ACancelledJobStaysCancelledAndFreesItsName) {
  Cluster cluster = Fresh();
  const auto job = cluster.Submit(job::SmallJob("job", 100), "key", kStart);
  ASSERT_TRUE(cluster.Cancel(job->job, kStart).ok());
  ASSERT_TRUE(cluster.Cancel(job->job, kStart).ok());
  EXPECT_EQ(cluster.ViewJob(job->job, kStart)->phase, JobPhase::kCancelled);
  const auto next = cluster.Submit(job::SmallJob("job", 100), "key2", kStart);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(*cluster.FindJob("job"), next->job);
  EXPECT_TRUE(absl::IsNotFound(cluster.Cancel(JobId(99), kStart)));
}

TEST(ClusterTest, ApplyingTheSameJobAgainChangesNothing) {
  Cluster cluster = Fresh();
  const job::JobSpec spec = job::SmallJob("job", 100);
  const auto first = cluster.Submit(spec, "a", kStart, true);
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(first->unchanged);
  const auto again = cluster.Submit(spec, "b", kStart, true);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->unchanged);
  EXPECT_EQ(again->job, first->job);
  EXPECT_EQ(cluster.TakeRecords().size(), 1u);
  const job::JobSpec other = job::SmallJob("job", 200);
  EXPECT_TRUE(
      absl::IsAlreadyExists(cluster.Submit(other, "c", kStart, true).status()));
  // Also of a job that has ended; another one may take its name.
  ASSERT_TRUE(cluster.Cancel(first->job, kStart).ok());
  EXPECT_TRUE(cluster.Submit(spec, "d", kStart, true)->unchanged);
  EXPECT_FALSE(cluster.Submit(other, "e", kStart, true)->unchanged);
}

// Says that /saved has checkpoints of the job with that number.
void FindsCheckpoints(Cluster& cluster, uint64_t counter, JobId number) {
  StatusFacts status = From("w", 9, counter == 1 ? 0 : 1, counter);
  status.looks_at_data = true;
  status.data.resize(2);
  status.data[0] = {"/data/text", "", std::string(64, 'a'), 256, 1000, 0};
  status.data[1].path = "/saved";
  status.data[1].save_error = job::CheckpointOwnerText("/saved", "job", number);
  ASSERT_TRUE(cluster.OnStatus(status, kStart).ok());
}

TEST(ClusterTest, OnlyTheJobThatSavedToAFolderIsSubmittedWithIt) {
  Cluster cluster = Fresh();
  job::JobSpec spec = job::SmallJob("job", 100);
  spec.checkpoint = job::JobSpec::Checkpoints{"/saved", 2, 2};
  // They are of a job that had the same number in a journal that was lost.
  FindsCheckpoints(cluster, 1, JobId(2));
  EXPECT_TRUE(cluster.Plan(spec, 0).ok());
  const auto first = cluster.Submit(spec, "key", kStart);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(first->job, JobId(2));
  // It has saved some, and is submitted again.
  FindsCheckpoints(cluster, 2, JobId(2));
  EXPECT_EQ(cluster.Submit(spec, "key", kStart)->job, first->job);
  EXPECT_TRUE(cluster.Submit(spec, "other", kStart, true)->unchanged);
  ASSERT_TRUE(cluster.Cancel(first->job, kStart).ok());
  EXPECT_TRUE(cluster.Submit(spec, "other", kStart, true)->unchanged);
  // A new job of the same name is another job.
  const absl::Status next = cluster.Submit(spec, "next", kStart).status();
  EXPECT_EQ(next.message(),
            "checkpoint.directory: no worker can save there; worker w cannot "
            "save there: /saved has checkpoints of job job (number 2); give "
            "each job a folder of its own");
  EXPECT_EQ(cluster.Plan(spec, 0).status(), next);
  spec.checkpoint->directory = "/other";
  EXPECT_TRUE(cluster.Submit(spec, "next", kStart).ok());
}

TEST(ClusterTest, OnlyAJobThatHasEndedIsDeletedAndAReplayKnowsIt) {
  Cluster cluster = Fresh();
  const JobId job =
      cluster.Submit(job::SmallJob("job", 100), "key", kStart)->job;
  EXPECT_TRUE(absl::IsFailedPrecondition(cluster.Delete(job, kStart)));
  ASSERT_TRUE(cluster.Cancel(job, kStart).ok());
  ASSERT_TRUE(cluster.Delete(job, kStart).ok());
  EXPECT_TRUE(absl::IsNotFound(cluster.ViewJob(job, kStart).status()));
  EXPECT_TRUE(absl::IsNotFound(cluster.Delete(job, kStart)));
  Cluster again{ClusterOptions()};
  for (const Entry& entry : cluster.TakeRecords()) {
    ASSERT_TRUE(again.Apply(entry).ok());
  }
  EXPECT_EQ(again.StateHash(), cluster.StateHash());
  // Its name and key are free.
  EXPECT_TRUE(cluster.Submit(job::SmallJob("job", 100), "key", kStart).ok());
}

TEST(ClusterTest, ASilentWorkerLeavesAfterALease) {
  Cluster cluster = Fresh();
  ASSERT_TRUE(cluster.OnStatus(From("w", 9, 0), kStart).ok());
  Instant now = kStart;
  while (cluster.NextDeadline().has_value()) {
    ASSERT_GT(*cluster.NextDeadline(), now);
    now = *cluster.NextDeadline();
    cluster.Tick(now);
  }
  EXPECT_EQ(now, kStart + absl::Seconds(10));
  cluster.TakeRecords();
  EXPECT_TRUE(absl::IsNotFound(OrdersOf(cluster, "w", now).status()));
  EXPECT_EQ(cluster.ViewWorkers(now)[0].state, "lost");
  EXPECT_TRUE(absl::IsAborted(cluster.OnStatus(From("w", 9, 1, 2), now)));
}

TEST(ClusterTest, AJournalWithAGapIsRefused) {
  Cluster cluster{ClusterOptions()};
  EXPECT_EQ(cluster.Apply({Revision(2), JobSubmitted{}}).code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(cluster.Apply({Revision(1), ReplicaEnded{}}).code(),
            absl::StatusCode::kDataLoss);
}

TEST(ClusterTest, AJobThatWouldBeRefusedNowIsReplayedAndGoesOn) {
  job::JobSpec accepted = job::SmallJob("job", 100);
  accepted.exchange.codec = "sign1_whole";
  accepted.outer.beta = 0.0;
  ASSERT_FALSE(ReviewJobSpec(accepted).ok());
  // All else filled, as the release that accepted it did.
  accepted.exchange.codec = "sign1";
  accepted.outer.beta = 1.0;
  accepted = ReviewJobSpec(accepted)->spec;
  accepted.exchange.codec = "sign1_whole";
  accepted.outer.beta = 0.0;
  Cluster cluster{ClusterOptions()};
  ASSERT_TRUE(cluster.Apply({Revision(1), JobSubmitted{accepted, "key"}}).ok());
  cluster.Recovered(kStart);
  ASSERT_TRUE(cluster.OnStatus(From("w", 9, 0), kStart).ok());
  const auto view = cluster.ViewJob(JobId(1), kStart);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->spec, accepted);
}

TEST(ClusterTest, FinishedJobsAreForgottenOldestFirst) {
  ClusterOptions options;
  options.finished_jobs_max = 1;
  Cluster cluster = Fresh(options);
  std::vector<JobId> jobs;
  for (const char* name : {"x", "y", "z", "last"}) {
    jobs.push_back(cluster.Submit(job::SmallJob(name, 100), name, kStart)->job);
    ASSERT_TRUE(cluster.Cancel(jobs.back(), kStart).ok());
  }
  EXPECT_TRUE(absl::IsNotFound(cluster.ViewJob(jobs[0], kStart).status()));
  EXPECT_TRUE(cluster.ViewJob(jobs[3], kStart).ok());
}

TEST(ClusterTest, GenerateNeedsAWorkerWithTheState) {
  Cluster cluster = Fresh();
  const auto job = cluster.Submit(job::SmallJob("job", 100), "key", kStart);
  EXPECT_TRUE(absl::IsFailedPrecondition(cluster.Generate(
      job->job, {7, "once", 4, 1, 0}, absl::Seconds(1), kStart)));
  EXPECT_TRUE(absl::IsNotFound(cluster.Generate(JobId(77), {7, "once", 4, 1, 0},
                                                absl::Seconds(1), kStart)));
}

TEST(ClusterTest, APausedJobGetsNoSamplesAndItsWorkersKnow) {
  Cluster cluster = Fresh();
  ASSERT_TRUE(cluster.OnStatus(From("w", 9, 0), kStart).ok());
  const JobId job =
      cluster.Submit(job::SmallJob("job", 100), "key", kStart)->job;
  ASSERT_TRUE(cluster.SetPaused(job, true, kStart).ok());
  ASSERT_TRUE(cluster.SetPaused(job, true, kStart).ok());
  EXPECT_EQ(cluster.TakeRecords().size(), 3u);
  EXPECT_TRUE(OrdersOf(cluster, "w", kStart)->jobs[0].paused);
  EXPECT_TRUE(cluster.ViewJob(job, kStart)->paused);
  ASSERT_TRUE(cluster.SetPaused(job, false, kStart).ok());
  EXPECT_EQ(cluster.TakeRecords().size(), 1u);
  EXPECT_FALSE(OrdersOf(cluster, "w", kStart)->jobs[0].paused);
  ASSERT_TRUE(cluster.Cancel(job, kStart).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(cluster.SetPaused(job, true, kStart)));
  EXPECT_TRUE(absl::IsNotFound(cluster.SetPaused(JobId(99), true, kStart)));
}

TEST(ClusterTest, AnIntentOutlivesTheProcessAndKeepsJobsAway) {
  Cluster cluster = Fresh();
  ASSERT_TRUE(cluster.OnStatus(From("w", 9, 0), kStart).ok());
  ASSERT_TRUE(cluster.SetIntent("w", WorkerIntent::kCordon, kStart).ok());
  const JobId job =
      cluster.Submit(job::SmallJob("job", 100), "key", kStart)->job;
  cluster.TakeRecords();
  EXPECT_TRUE(OrdersOf(cluster, "w", kStart)->jobs.empty());
  EXPECT_EQ(cluster.ViewWorker("w", kStart)->state, "cordoned");
  // Another process of that name.
  ASSERT_TRUE(cluster.OnStatus(From("w", 10, 0), kStart).ok());
  cluster.TakeRecords();
  EXPECT_TRUE(OrdersOf(cluster, "w", kStart)->jobs.empty());
  ASSERT_TRUE(cluster.SetIntent("w", WorkerIntent::kDrain, kStart).ok());
  cluster.TakeRecords();
  EXPECT_TRUE(OrdersOf(cluster, "w", kStart)->drain);
  EXPECT_FALSE(OrdersOf(cluster, "w", kStart)->released);
  EXPECT_EQ(cluster.ViewWorker("w", kStart)->state, "drained");
  ASSERT_TRUE(cluster.SetIntent("w", WorkerIntent::kServe, kStart).ok());
  cluster.TakeRecords();
  EXPECT_EQ(OrdersOf(cluster, "w", kStart)->jobs[0].job, job);
  EXPECT_FALSE(OrdersOf(cluster, "w", kStart)->drain);
  EXPECT_TRUE(absl::IsNotFound(
      cluster.SetIntent("nobody", WorkerIntent::kDrain, kStart)));
}

// The worker's places in unfinished jobs, by name of the job.
std::vector<std::string> JobsOf(const Cluster& cluster) {
  return cluster.ViewWorker("w", kStart)->jobs;
}

TEST(ClusterTest, AJobThatHasNotBegunGivesWayToOneOfHigherPriority) {
  ClusterOptions options;
  options.seats_max = 1;
  Cluster cluster = Fresh(options);
  ASSERT_TRUE(cluster.OnStatus(From("w", 9, 0), kStart).ok());
  const JobId low = cluster.Submit(job::SmallJob("low", 100), "a", kStart)->job;
  EXPECT_EQ(JobsOf(cluster), (std::vector<std::string>{"low"}));
  EXPECT_EQ(cluster.ViewJob(low, kStart)->queue_position, 0u);
  job::JobSpec spec = job::SmallJob("high", 100);
  spec.queue.priority = 1;
  const JobId high = cluster.Submit(spec, "b", kStart)->job;
  EXPECT_EQ(JobsOf(cluster), (std::vector<std::string>{"high"}));
  const auto waits = cluster.ViewJob(low, kStart);
  EXPECT_EQ(waits->queue_position, 1u);
  EXPECT_EQ(waits->reason,
            "waits as number 1 of 1: it needs 1 worker(s) and may have 0; w: 1 "
            "job(s) come first on island a, and a worker takes 1");
  const auto plan = cluster.Plan(job::SmallJob("next", 100), 0);
  EXPECT_FALSE(plan->starts);
  EXPECT_EQ(plan->queue_position, 2u);
  // A restart changes nothing, and then the turn passes on.
  Cluster again(options);
  for (const Entry& entry : cluster.TakeRecords()) {
    ASSERT_TRUE(again.Apply(entry).ok());
  }
  again.Recovered(kStart);
  EXPECT_EQ(JobsOf(again), (std::vector<std::string>{"high"}));
  EXPECT_EQ(again.ViewJob(low, kStart)->reason, waits->reason);
  ASSERT_TRUE(again.Cancel(high, kStart).ok());
  EXPECT_EQ(JobsOf(again), (std::vector<std::string>{"low"}));
}

TEST(ClusterTest, AJobThatIsOverItsOwnersQuotaWaitsAndSaysSo) {
  ClusterOptions options;
  options.quotas["vision"] = 1;
  Cluster cluster = Fresh(options);
  ASSERT_TRUE(cluster.OnStatus(From("w", 9, 0), kStart).ok());
  job::JobSpec spec = job::SmallJob("one", 100);
  spec.queue.owner = "vision";
  const JobId one = cluster.Submit(spec, "a", kStart)->job;
  spec.name = "two";
  const JobId two = cluster.Submit(spec, "b", kStart)->job;
  ASSERT_TRUE(cluster.Submit(job::SmallJob("three", 100), "c", kStart).ok());
  EXPECT_EQ(JobsOf(cluster), (std::vector<std::string>{"one", "three"}));
  EXPECT_EQ(cluster.ViewJob(two, kStart)->reason,
            "waits as number 1 of 1: the quota of owner vision is 1 job(s) at "
            "a time, and 1 come(s) first");
  ASSERT_TRUE(cluster.Cancel(one, kStart).ok());
  EXPECT_EQ(JobsOf(cluster), (std::vector<std::string>{"two", "three"}));
}

TEST(ClusterTest, APlanIsWhatASubmissionWouldMeetAndChangesNothing) {
  Cluster cluster = Fresh();
  ASSERT_TRUE(cluster.OnStatus(From("w", 9, 0), kStart).ok());
  cluster.TakeRecords();
  const uint64_t before = cluster.StateHash();
  const auto plan = cluster.Plan(job::SmallJob("job", 100), 8 * 4096);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->starts);
  EXPECT_EQ(cluster.StateHash(), before);
  EXPECT_TRUE(cluster.TakeRecords().empty());
  ASSERT_TRUE(cluster.Submit(job::SmallJob("job", 100), "key", kStart).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(
      cluster.Plan(job::SmallJob("job", 100), 8 * 4096).status()));
  job::JobSpec wrong = job::SmallJob("other", 100);
  wrong.training.samples = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(cluster.Plan(wrong, 1).status()));
}

}  // namespace
}  // namespace skerry::coordinator
