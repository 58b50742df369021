#include "cli/views.h"

#include <stdlib.h>

#include <fstream>
#include <functional>
#include <string>

#include "cli/job_description.h"
#include "cli/json.h"
#include "cli/listing.h"
#include "cli/read_file.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

v1::SeatView* AddSeat(const std::string& worker, const std::string& state,
                      v1::ReplicaView* replica) {
  v1::SeatView* seat = replica->add_seats();
  seat->set_worker(worker);
  seat->set_state(state);
  seat->set_applied(17);
  seat->set_span_end(64);
  seat->set_anchor_hash(0x0123456789abcdef);
  seat->add_anchor_hashes(7);
  seat->set_owed_norm(0.125);
  return seat;
}

void AddLoss(uint64_t sequence, double training, v1::JobView* job) {
  v1::LossPoint* point = job->add_losses();
  point->set_sequence(sequence);
  point->set_samples(sequence * 96);
  point->set_training_loss(training);
}

void FillSpec(v1::JobSpec* spec) {
  spec->set_name("bible");
  spec->mutable_model()->set_config_json("{\"model_type\": \"gpt2\"}");
  spec->mutable_data()->set_path("/data/bible");
  spec->mutable_training()->set_samples(9600);
  spec->mutable_training()->set_tau(12);
  spec->mutable_outer()->set_method(v1::JobSpec::OUTER_METHOD_CO2);
  spec->mutable_exchange()->set_codec("int8_block");
  spec->mutable_queue()->set_priority(10);
  spec->mutable_queue()->set_owner("texts");
}

v1::JobView RunningJob() {
  v1::JobView job;
  job.set_id(3);
  FillSpec(job.mutable_spec());
  job.set_phase(v1::JOB_PHASE_RUNNING);
  job.set_age_ms(192'000);
  job.set_sequence(17);
  job.set_samples_committed(1632);
  job.set_samples_total(9600);
  job.set_tokens_per_sample(256);
  job.set_parameters(3'300'000);
  job.set_own_share(0.515);
  job.set_late_steps(3.25);
  for (uint64_t sequence = 6; sequence <= 17; ++sequence) {
    AddLoss(sequence, 5.5 - 0.125 * static_cast<double>(sequence), &job);
  }
  job.mutable_losses(9)->set_validation_loss(3.6875);
  v1::ReplicaView* first = job.add_replicas();
  first->set_replica(1);
  first->set_life(12);
  first->set_island("north");
  AddSeat("north-1", "active", first);
  v1::ReplicaView* second = job.add_replicas();
  second->set_replica(2);
  second->set_life(19);
  second->set_island("south");
  second->set_suspected(true);
  AddSeat("south-1", "active", second);
  v1::ReplicaView* third = job.add_replicas();
  third->set_replica(3);
  third->set_island("west");
  v1::SeatView* failed = third->add_seats();
  failed->set_worker("west-1");
  failed->set_state("failed");
  failed->set_error("no\x1b[31m disk");
  v1::JobCounters* counters = job.mutable_counters();
  counters->set_bulk_sent_bytes(112'000'000);
  counters->set_synchronous_bytes(5'385'600'000);
  counters->set_compute_s(340);
  counters->set_stall_s(12.5);
  counters->set_commits(17);
  counters->set_attempts(18);
  counters->set_lives(3);
  counters->set_tokens_per_s(2176.4);
  counters->set_goodput(0.947);
  job.set_revision(94);
  job.set_open_attempt(93);
  job.set_open_tries(1);
  v1::Condition* unsaved = job.add_conditions();
  unsaved->set_kind(v1::Condition::KIND_CHECKPOINT_FAILS);
  unsaved->set_text("the state at sequence 16 was not saved");
  unsaved->set_needs_help(true);
  return job;
}

v1::JobView EndedJob() {
  v1::JobView job;
  job.set_id(1);
  job.mutable_spec()->set_name("a-name-that-is-rather-long");
  job.set_phase(v1::JOB_PHASE_FAILED);
  job.set_reason("no worker could read /data/none");
  job.set_age_ms(93'780'000);
  return job;
}

v1::JobView WaitingJob() {
  v1::JobView job;
  job.set_id(4);
  job.mutable_spec()->set_name("later");
  job.mutable_spec()->mutable_queue()->set_priority(-5);
  job.mutable_spec()->mutable_queue()->set_owner("default");
  job.set_phase(v1::JOB_PHASE_PENDING);
  job.mutable_queue()->set_position(2);
  job.mutable_queue()->set_length(3);
  job.set_reason("waits as number 2 of 3: it needs 1 worker(s)");
  v1::Condition* why = job.add_conditions();
  why->set_kind(v1::Condition::KIND_QUEUED);
  why->set_text(job.reason());
  job.set_age_ms(4'000);
  return job;
}

v1::ListWorkersReply Workers() {
  v1::ListWorkersReply workers;
  const auto add = [&](const char* name, const char* island, const char* state,
                       uint64_t silence_ms) {
    v1::WorkerView* worker = workers.add_workers();
    worker->set_worker(name);
    worker->set_island(island);
    worker->set_state(state);
    worker->set_address("127.0.0.1:4101");
    worker->set_incarnation(8);
    worker->set_silence_ms(silence_ms);
    worker->set_release("0.1.0");
    worker->set_reached("dialled");
    return worker;
  };
  add("north-1", "north", "connected", 210)->add_jobs("bible");
  add("north-2", "north", "lost", 61'000)->add_jobs("bible");
  add("south-1", "south", "draining", 1500)
      ->set_intent(v1::WORKER_INTENT_DRAIN);
  add("south-2", "south", "cordoned", 1600)
      ->set_intent(v1::WORKER_INTENT_CORDON);
  return workers;
}

std::string Islands(const std::string& columns) {
  const auto table =
      CustomTable(IslandsJson(Workers()), {"islands"}, {0, 1}, columns);
  return table.value_or(std::string(table.status().message()));
}

v1::AuditDataReply Audit() {
  v1::AuditDataReply audit;
  audit.set_samples_total(9600);
  audit.set_samples_committed(9504);
  audit.set_commits(100);
  audit.set_contributions(198);
  audit.set_samples_returned(96);
  v1::SampleRange* missing = audit.add_missing();
  missing->set_begin(4800);
  missing->set_end(4896);
  for (uint64_t i = 0; i < 10; ++i) {
    v1::SampleRange* doubled = audit.add_doubled();
    doubled->set_begin(i * 10);
    doubled->set_end(i * 10 + 1);
  }
  return audit;
}

v1::Event CommittedEvent() {
  v1::Event event;
  event.set_revision(94);
  event.set_job(3);
  event.set_name("Committed");
  event.set_message("sequence 17 with 2 replicas");
  event.set_age_ms(3200);
  return event;
}

v1::ListJobsReply Jobs() {
  v1::ListJobsReply jobs;
  *jobs.add_jobs() = EndedJob();
  *jobs.add_jobs() = RunningJob();
  *jobs.add_jobs() = WaitingJob();
  return jobs;
}

struct Golden {
  const char* name;
  std::function<std::string()> text;
};

class ViewsGoldenTest : public testing::TestWithParam<Golden> {};

// With SKERRY_GOLDENS_OUT=FOLDER the texts are written there instead.
TEST_P(ViewsGoldenTest, TheTextIsTheFiles) {
  const std::string name = std::string(GetParam().name) + ".golden";
  const std::string text = GetParam().text();
  if (const char* folder = getenv("SKERRY_GOLDENS_OUT")) {
    std::ofstream(std::string(folder) + "/" + name) << text;
    return;
  }
  const auto golden = ReadFile("cli/testdata/" + name, 1 << 20);
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_EQ(text, *golden);
}

INSTANTIATE_TEST_SUITE_P(
    Views, ViewsGoldenTest,
    testing::Values(
        Golden{"jobs_table", [] { return JobsTable(Jobs()); }},
        Golden{"jobs_wide", [] { return WideJobsTable(Jobs()); }},
        Golden{"jobs_names", [] { return JobNames(Jobs()); }},
        Golden{"jobs_json", [] { return JsonText(Jobs()); }},
        Golden{"no_jobs_table", [] { return JobsTable({}); }},
        Golden{"workers_table", [] { return WorkersTable(Workers()); }},
        Golden{"workers_wide", [] { return WideWorkersTable(Workers()); }},
        Golden{"workers_names", [] { return WorkerNames(Workers()); }},
        Golden{"workers_json", [] { return JsonText(Workers()); }},
        Golden{"islands_table", [] { return Islands(kIslandColumns); }},
        Golden{"islands_json", [] { return IslandsJson(Workers()); }},
        Golden{"job_description", [] { return JobDescription(RunningJob()); }},
        Golden{"ended_job_description",
               [] { return JobDescription(EndedJob()); }},
        Golden{"waiting_job_description",
               [] { return JobDescription(WaitingJob()); }},
        Golden{"job_json", [] { return JsonText(RunningJob()); }},
        Golden{"audit_description", [] { return AuditDescription(Audit()); }},
        Golden{"audit_json", [] { return JsonText(Audit()); }},
        Golden{"progress",
               [] {
                 return ProgressLine(RunningJob()) + "\n" +
                        ProgressLine(EndedJob()) + "\n" +
                        ProgressLine(WaitingJob()) + "\n";
               }},
        Golden{"event", [] { return EventLine(CommittedEvent()) + "\n"; }},
        Golden{"event_json", [] { return JsonLine(CommittedEvent()); }}),
    [](const auto& info) { return info.param.name; });

TEST(ViewsTest, ACapOnTheErrorIsShownWhereThereIsOne) {
  v1::JobView job = WaitingJob();
  EXPECT_EQ(JobDescription(job).find("Codec error"), std::string::npos);
  job.mutable_spec()->mutable_exchange()->set_error_max(0.1);
  EXPECT_NE(JobDescription(job).find("Codec error:     at most 0.1\n"),
            std::string::npos)
      << JobDescription(job);
}

TEST(ViewsTest, WhyAWorkerDrainsIsShownWhereThereIsRoom) {
  v1::ListWorkersReply workers = Workers();
  workers.mutable_workers(0)->set_drain_reason("notice of gcp: preempted");
  EXPECT_NE(WideWorkersTable(workers).find("notice of gcp: preempted\n"),
            std::string::npos);
  EXPECT_EQ(WorkersTable(workers), WorkersTable(Workers()));
}

TEST(ViewsTest, AWorkerApartFromItsIslandHasALineUnderTheTable) {
  v1::ListWorkersReply workers = Workers();
  workers.mutable_workers(1)->set_apart("it is on another host than north-1");
  const std::string line = "north-2: it is on another host than north-1\n";
  EXPECT_EQ(WorkersTable(workers), WorkersTable(Workers()) + line);
  EXPECT_EQ(WideWorkersTable(workers), WideWorkersTable(Workers()) + line);
}

TEST(ViewsTest, ProgressDiffersByAnyThingButTheSpeed) {
  const v1::JobView before = RunningJob();
  v1::JobView slower = before;
  slower.mutable_counters()->set_tokens_per_s(1);
  ASSERT_NE(ProgressLine(before), ProgressLine(slower));
  EXPECT_FALSE(ProgressDiffers(before, slower));
  v1::JobView committed = slower;
  committed.set_sequence(before.sequence() + 1);
  EXPECT_TRUE(ProgressDiffers(before, committed));
  v1::JobView waiting = slower;
  waiting.set_reason("trainers are starting");
  EXPECT_TRUE(ProgressDiffers(before, waiting));
}

v1::JobView ProgramJob() {
  v1::JobView job = RunningJob();
  v1::JobSpec* spec = job.mutable_spec();
  spec->mutable_model()->Clear();
  v1::JobSpec::Program* program = spec->mutable_model()->mutable_program();
  program->set_name("resnet");
  program->set_parameters_json("{\"width\":64}");
  spec->mutable_data()->Clear();
  spec->mutable_data()->set_id("imagenet");
  job.set_tokens_per_sample(0);
  job.mutable_counters()->set_tokens_per_s(0);
  job.mutable_counters()->set_samples_per_s(8.5);
  job.set_program_sha256(std::string(64, 'a'));
  (*job.mutable_metrics())["top/1"] = 0.912345;
  (*job.mutable_metrics())["accuracy"] = 0.5;
  return job;
}

TEST(ViewsTest, OfAProgramNothingIsSaidOfTokens) {
  const std::string text = JobDescription(ProgramJob());
  for (const char* line :
       {"Program:         resnet with {\"width\":64}\n",
        "Samples:         1632 of 9600 (17.0%)\n",
        "Data:            imagenet\n", "Speed:           8.5 samples/s\n",
        "Metrics:         accuracy 0.5, top/1 0.9123\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
  EXPECT_NE(text.find("Program's hash:  " + std::string(64, 'a') + "\n"),
            std::string::npos);
  EXPECT_EQ(text.find("tokens"), std::string::npos) << text;
  EXPECT_EQ(ProgressLine(ProgramJob()),
            "running    seq 17      17.0%  loss 3.3750  validation 3.6875  8.5 "
            "samples/s  replicas 2/3");
  EXPECT_EQ(WideProgressLine(ProgramJob()),
            ProgressLine(ProgramJob()) + "  accuracy 0.5, top/1 0.9123");
  v1::ListJobsReply jobs;
  *jobs.add_jobs() = ProgramJob();
  EXPECT_NE(JobsTable(jobs).find("  8.5 samples/s  "), std::string::npos);
}

TEST(ViewsTest, WhereNoLossIsMeasuredNoneIsShown) {
  v1::JobView job = ProgramJob();
  for (v1::LossPoint& point : *job.mutable_losses()) {
    point.clear_training_loss();
    point.clear_validation_loss();
  }
  EXPECT_EQ(JobDescription(job).find("Losses"), std::string::npos);
  EXPECT_EQ(ProgressLine(job).find("loss"), std::string::npos);
  job.set_validation_samples(0);
  EXPECT_NE(JobDescription(job).find(
                "Evaluation:      none: the program evaluates nothing\n"),
            std::string::npos);
}

TEST(ViewsTest, ProgramsThatWorkersAllowAreShownWhereThereIsRoom) {
  v1::ListWorkersReply workers = Workers();
  workers.mutable_workers(1)->add_programs()->set_name("mnist");
  workers.mutable_workers(1)->add_programs()->set_name("resnet");
  EXPECT_NE(WideWorkersTable(workers).find("PROGRAMS"), std::string::npos);
  EXPECT_NE(WideWorkersTable(workers).find("mnist,resnet\n"),
            std::string::npos);
  EXPECT_EQ(WorkersTable(workers), WorkersTable(Workers()));
}

}  // namespace
}  // namespace skerry::cli
