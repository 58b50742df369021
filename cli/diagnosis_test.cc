#include "cli/diagnosis.h"

#include <functional>

#include "base/release.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kNow = 1'700'000'000'000;
constexpr uint64_t kGiB = uint64_t{1} << 30;

void FillMachine(v1::Machine* machine) {
  machine->set_unix_ms(kNow);
  machine->set_state_free_bytes(50 * kGiB);
  machine->set_state_bytes(100 * kGiB);
}

v1::WorkerView* AddWorker(const std::string& name, Evidence& evidence) {
  v1::WorkerView* worker = evidence.workers.add_workers();
  worker->set_worker(name);
  worker->set_state("connected");
  worker->set_silence_ms(900);
  worker->set_lease_ms(10'000);
  worker->set_release(kRelease);
  worker->set_clock_ahead_ms(-3);
  FillMachine(worker->mutable_machine());
  v1::LinkView* link = worker->add_links();
  link->set_worker("other");
  link->set_bytes_per_s(1e8);
  link->set_round_trip_s(0.03);
  evidence.ports[name] = absl::OkStatus();
  return worker;
}

// A cluster of two workers and a job in which nothing is wrong.
Evidence Healthy() {
  Evidence evidence;
  evidence.address = "127.0.0.1:7443";
  v1::GetVersionReply version;
  version.set_release(kRelease);
  FillMachine(version.mutable_machine());
  evidence.version = version;
  evidence.asked_unix_ms = kNow;
  evidence.asked_half_ms = 2;
  AddWorker("a", evidence);
  AddWorker("b", evidence);
  v1::JobView* job = evidence.jobs.add_jobs();
  job->mutable_spec()->set_name("bible");
  job->set_phase(v1::JOB_PHASE_RUNNING);
  v1::ReplicaView* replica = job->add_replicas();
  replica->set_life(7);
  replica->add_seats()->set_worker("a");
  job->mutable_counters()->set_compute_s(90);
  job->mutable_counters()->set_stall_s(10);
  evidence.folders.push_back({"/state",
                              absl::OkStatus(),
                              {kNow, 50 * kGiB, 100 * kGiB, std::nullopt}});
  return evidence;
}

TEST(DiagnosisTest, OfAHealthyClusterEveryLineIsOk) {
  const std::vector<Check> checks = Diagnose(Healthy());
  EXPECT_EQ(CountProblems(checks), 0u);
  for (const Check& check : checks) {
    EXPECT_EQ(check.verdict, Check::Verdict::kOk) << check.text;
  }
  EXPECT_EQ(checks.size(), 9u) << ChecksText(checks);
  EXPECT_THAT(ChecksText(checks),
              StartsWith("ok       coordinator: 127.0.0.1:7443 answers"));
}

struct Fault {
  const char* name;
  std::function<void(Evidence&)> plant;
  // The beginning of the one line that is not ok.
  const char* line;
};

class DiagnosisFaultTest : public testing::TestWithParam<Fault> {};

TEST_P(DiagnosisFaultTest, ItIsFoundAndNothingElseIs) {
  Evidence evidence = Healthy();
  GetParam().plant(evidence);
  std::vector<Check> wrong;
  for (const Check& check : Diagnose(evidence)) {
    if (check.verdict != Check::Verdict::kOk) wrong.push_back(check);
  }
  ASSERT_EQ(wrong.size(), 1u) << ChecksText(wrong);
  EXPECT_THAT(ChecksText(wrong), StartsWith(GetParam().line));
  EXPECT_THAT(ChecksText(wrong), HasSubstr(": "));
}

v1::WorkerView& First(Evidence& evidence) {
  return *evidence.workers.mutable_workers(0);
}
v1::JobView& Job(Evidence& evidence) { return *evidence.jobs.mutable_jobs(0); }

INSTANTIATE_TEST_SUITE_P(
    Planted, DiagnosisFaultTest,
    testing::Values(
        Fault{"unreachable",
              [](Evidence& e) {
                e.version = absl::UnavailableError("it cannot be reached");
              },
              "problem  coordinator: it cannot be reached"},
        Fault{"unknown_folders",
              [](Evidence& e) {
                for (int i = 0; i < 2; ++i) {
                  v1::StoredJobView* stored = First(e).add_stored_jobs();
                  stored->set_job(7);
                  stored->set_uid(0xab);
                  stored->set_bytes(kGiB);
                  stored->set_state(i == 0 ? "unknown" : "ended");
                }
              },
              "warning  worker a: its disk has 1.0 GiB of 1 jobs that this "
              "coordinator does not know (7-00000000000000ab); if it was not "
              "started on an old or a wrong journal, remove them with: "
              "skerryctl clean a"},
        Fault{"other_protocol",
              [](Evidence& e) {
                e.version = absl::FailedPreconditionError("speaks 1, not 2");
              },
              "problem  coordinator: speaks 1, not 2"},
        Fault{"other_release",
              [](Evidence& e) {
                e.version->set_release("9.9.9");
                for (auto& w : *e.workers.mutable_workers()) {
                  w.set_release("9.9.9");
                }
              },
              "warning  release: skerryctl is "},
        Fault{"two_of_one_name",
              [](Evidence& e) {
                First(e).set_address("10.0.0.1:1");
                First(e).mutable_contender()->set_address("10.0.0.2:2");
                First(e).mutable_contender()->set_age_ms(3000);
              },
              "problem  worker a: two processes have this name: the one at "
              "10.0.0.1:1 serves, and one at 10.0.0.2:2 was refused 3s ago"},
        Fault{"diverged",
              [](Evidence& e) {
                Job(e).set_phase(v1::JOB_PHASE_DIVERGED);
                v1::Condition* why = Job(e).add_conditions();
                why->set_kind(v1::Condition::KIND_DIVERGED);
                why->set_text("worker a holds sequence 79");
                why->set_needs_help(true);
              },
              "problem  job bible: worker a holds sequence 79"},
        Fault{"coordinator_clock",
              [](Evidence& e) {
                e.version->mutable_machine()->set_unix_ms(kNow + 7000);
              },
              "warning  coordinator: its clock is 7.0 s ahead"},
        Fault{"coordinator_disk",
              [](Evidence& e) {
                e.version->mutable_machine()->set_state_free_bytes(1 << 20);
              },
              "problem  coordinator: the disk of its state folder has 1.0 MiB"},
        Fault{"no_worker",
              [](Evidence& e) {
                e.workers.Clear();
                e.ports.clear();
              },
              "problem  workers: none has registered"},
        Fault{"lost_worker", [](Evidence& e) { First(e).set_state("lost"); },
              "problem  worker a: it is lost"},
        Fault{"suspected_worker",
              [](Evidence& e) { First(e).set_state("suspected"); },
              "warning  worker a: it is late"},
        Fault{"silent_worker",
              [](Evidence& e) { First(e).set_silence_ms(8000); },
              "warning  worker a: it is late: heard 8s ago"},
        Fault{"worker_that_nobody_reaches",
              [](Evidence& e) {
                First(e).add_jobs("bible");
                First(e).add_unreached_by("b");
              },
              "problem  worker a: it is reached by nobody: b got no answer "
              "for 30 s; correct its --advertise"},
        Fault{"worker_that_one_does_not_reach",
              [](Evidence& e) {
                First(e).set_island("north");
                First(e).add_jobs("bible");
                First(e).add_unreached_by("b");
                First(e).set_reached("reverse");
                e.workers.mutable_workers(1)->add_jobs("bible");
                AddWorker("c", e)->add_jobs("bible");
              },
              "warning  worker a: it is not reached by b; look in its log for "
              "bulk.reverse.lost"},
        Fault{"worker_that_one_does_not_reach_through_its_relay",
              [](Evidence& e) {
                First(e).set_island("north");
                First(e).add_jobs("bible");
                First(e).add_unreached_by("b");
                First(e).set_reached("relay c");
                (*First(e).mutable_relayed())["b"] = "c";
                e.workers.mutable_workers(1)->add_jobs("bible");
                AddWorker("c", e)->add_jobs("bible");
              },
              "warning  worker a: it is not reached by b; look in its log and "
              "its relay's for bulk.reverse.lost and transport.call.refused, "
              "and start another worker with --relay"},
        Fault{"cordoned_worker",
              [](Evidence& e) { First(e).set_state("cordoned"); },
              "warning  worker a: it is cordoned"},
        Fault{"preempted_worker",
              [](Evidence& e) {
                First(e).set_state("draining");
                First(e).set_drain_reason("notice of aws: stop");
              },
              "warning  worker a: it is draining and gets nothing new: "
              "notice of aws: stop"},
        Fault{"older_worker", [](Evidence& e) { First(e).set_release("0.0"); },
              "warning  worker a: its release is 0.0"},
        Fault{"worker_clock",
              [](Evidence& e) { First(e).set_clock_ahead_ms(-61'000); },
              "warning  worker a: its clock is 61.0 s behind"},
        Fault{"worker_disk",
              [](Evidence& e) {
                First(e).mutable_machine()->set_state_free_bytes(kGiB);
              },
              "warning  worker a: the disk of its state folder has 1.0 GiB"},
        Fault{"blocked_port",
              [](Evidence& e) {
                e.ports["b"] = absl::UnavailableError("h:1 does not answer");
              },
              "problem  worker b: h:1 does not answer; open the port"},
        Fault{"slow_link",
              [](Evidence& e) {
                First(e).mutable_links(0)->set_bytes_per_s(1e4);
              },
              "warning  link a to other: 0.1 Mbit/s"},
        Fault{"far_link",
              [](Evidence& e) {
                First(e).mutable_links(0)->set_round_trip_s(2.5);
              },
              "warning  link a to other: 800.0 Mbit/s, round trip 2500 ms"},
        Fault{"waiting_job",
              [](Evidence& e) {
                Job(e).set_phase(v1::JOB_PHASE_PENDING);
                Job(e).mutable_queue()->set_position(1);
                Job(e).add_conditions()->set_text(
                    "waits as number 1 of 1: why");
              },
              "warning  job bible: waits as number 1 of 1: why"},
        Fault{"failed_job",
              [](Evidence& e) {
                Job(e).set_phase(v1::JOB_PHASE_FAILED);
                Job(e).set_reason("no data");
              },
              "warning  job bible: it has failed: no data"},
        Fault{"failing_seat",
              [](Evidence& e) {
                v1::Condition* one = Job(e).add_conditions();
                one->set_text("worker a: full");
                one->set_needs_help(true);
              },
              "problem  job bible: worker a: full"},
        Fault{"nobody_trains",
              [](Evidence& e) {
                v1::Condition* one = Job(e).add_conditions();
                one->set_text("nobody trains it: why");
                one->set_needs_help(true);
              },
              "problem  job bible: nobody trains it: why"},
        Fault{"stalled_job",
              [](Evidence& e) { Job(e).mutable_counters()->set_stall_s(90); },
              "warning  job bible: its workers stall 50 %"},
        Fault{"read_only_folder",
              [](Evidence& e) {
                e.folders[0].usable =
                    absl::FailedPreconditionError("it is read-only");
              },
              "problem  folder /state: it is read-only"},
        Fault{"full_folder",
              [](Evidence& e) { e.folders[0].disk.state_free_bytes = 0; },
              "problem  folder /state: the disk of its state folder has 0 B"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(DiagnosisTest, ASlowCallIsNoClockDifference) {
  Evidence evidence = Healthy();
  evidence.asked_unix_ms = kNow + 4000;
  evidence.asked_half_ms = 3500;
  EXPECT_EQ(CountProblems(Diagnose(evidence)), 0u);
  EXPECT_THAT(ChecksText(Diagnose(evidence)), Not(HasSubstr("its clock")));
}

TEST(DiagnosisTest, AStoppedTrainerIsNamedAndNoCodecIsAdvised) {
  Evidence evidence = Healthy();
  v1::JobView& job = Job(evidence);
  job.mutable_counters()->set_stall_s(90);
  const std::string trouble = "the trainer has not answered for 4.0 s";
  job.mutable_replicas(0)->mutable_seats(0)->set_trainer_trouble(trouble);
  v1::Condition* why = job.add_conditions();
  why->set_kind(v1::Condition::KIND_WORKER_TROUBLE);
  why->set_text("worker a: " + trouble);
  why->set_needs_help(true);
  const std::string text = ChecksText(Diagnose(evidence));
  EXPECT_THAT(text, HasSubstr("problem  job bible: worker a: the trainer has "
                              "not answered for 4.0 s\n"));
  EXPECT_THAT(text, HasSubstr("its workers stall 50 % of the time; others wait "
                              "for worker a, whose trainer does not go on"));
  EXPECT_THAT(text, Not(HasSubstr("codec")));
}

TEST(DiagnosisTest, JsonCountsWhatIsWrong) {
  Evidence evidence = Healthy();
  First(evidence).set_state("lost");
  EXPECT_THAT(ChecksJson(Diagnose(evidence)),
              StartsWith("{\n \"problems\": 1,\n \"warnings\": 0,\n "
                         "\"checks\": [\n"));
}

}  // namespace
}  // namespace skerry::cli
