#include "cli/diagnosis.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/job_folder_name.h"
#include "base/release.h"
#include "cli/reach_diagnosis.h"
#include "cli/table.h"
#include "cli/worker_view.h"
#include "nlohmann/json.hpp"

namespace skerry::cli {
namespace {

using Verdict = Check::Verdict;

// More, and times in logs of two machines cannot be compared.
constexpr int64_t kClockMsMax = 1000;
constexpr uint64_t kRoomLow = uint64_t{2} << 30;
constexpr uint64_t kRoomNone = uint64_t{256} << 20;
// A Status comes every 0.3 of a lease.
constexpr double kSilentShare = 0.65;
constexpr double kSlowBytesPerS = 1e6 / 8;
constexpr double kFarS = 1.0;
constexpr double kStallShare = 0.25;
// A process that was refused longer ago is gone: one that is started again
// asks again.
constexpr uint64_t kContenderMsMax = 10 * 60 * 1000;
constexpr size_t kFoldersNamed = 4;

class Doctor {
 public:
  explicit Doctor(const Evidence& evidence) : evidence_(evidence) {}
  std::vector<Check> Diagnose() &&;

 private:
  void Add(Verdict verdict, const std::string& about, const std::string& text) {
    checks_.push_back({verdict, about, text});
    if (verdict != Verdict::kOk) ++wrong_;
  }
  // Says that all is well unless something was wrong since `before`.
  void AllWell(size_t before, const std::string& about,
               const std::string& text) {
    if (wrong_ == before) Add(Verdict::kOk, about, text);
  }
  bool Coordinator();
  void Clock(const std::string& about, int64_t ahead_ms, int64_t unsure_ms);
  void Room(const std::string& about, uint64_t free_bytes, uint64_t bytes);
  void CoordinatorMachine();
  void Worker(const v1::WorkerView& worker);
  void Workers();
  void StoredJobs();
  void Machines();
  void Ports();
  void Reach();
  void Links();
  void Job(const v1::JobView& job);
  void Jobs();
  void Folders();

  const Evidence& evidence_;
  std::vector<Check> checks_;
  size_t wrong_ = 0;
};

bool Doctor::Coordinator() {
  const auto& version = evidence_.version;
  if (!version.ok()) {
    const absl::string_view why = version.status().message();
    Add(Verdict::kProblem, "coordinator", std::string(why));
    return false;
  }
  Add(Verdict::kOk, "coordinator",
      absl::StrCat(evidence_.address, " answers after ",
                   2 * evidence_.asked_half_ms, " ms"));
  const bool same = version->release() == kRelease;
  Add(same ? Verdict::kOk : Verdict::kWarning, "release",
      same ? absl::StrCat(kRelease, " on both sides")
           : absl::StrCat("skerryctl is ", kRelease, " and the coordinator ",
                          version->release(), "; install one of them on both"));
  return true;
}

void Doctor::Clock(const std::string& about, int64_t ahead_ms,
                   int64_t unsure_ms) {
  const int64_t least =
      std::max<int64_t>(0, std::abs(ahead_ms) - std::abs(unsure_ms));
  if (least <= kClockMsMax) return;
  Add(Verdict::kWarning, about,
      absl::StrFormat("its clock is %.1f s %s; run NTP there (training does "
                      "not follow from it, logs are hard to compare)",
                      static_cast<double>(least) / 1e3,
                      ahead_ms > 0 ? "ahead" : "behind"));
}

void Doctor::Room(const std::string& about, uint64_t free_bytes,
                  uint64_t bytes) {
  if (bytes == 0 || free_bytes >= kRoomLow) return;
  const bool none = free_bytes < kRoomNone;
  Add(none ? Verdict::kProblem : Verdict::kWarning, about,
      absl::StrCat("the disk of its state folder has ", BytesText(free_bytes),
                   " free of ", BytesText(bytes), "; make room"));
}

void Doctor::CoordinatorMachine() {
  const v1::GetVersionReply& version = *evidence_.version;
  if (!version.has_machine()) return;
  const v1::Machine& machine = version.machine();
  const size_t before = wrong_;
  Clock("coordinator", machine.unix_ms() - evidence_.asked_unix_ms,
        evidence_.asked_half_ms);
  Room("coordinator", machine.state_free_bytes(), machine.state_bytes());
  AllWell(before, "machine",
          absl::StrCat("the coordinator's clock is ours, and ",
                       BytesText(machine.state_free_bytes()),
                       " are free for its journal"));
}

void Doctor::Worker(const v1::WorkerView& worker) {
  const std::string about = "worker " + worker.worker();
  const std::string& state = worker.state();
  const std::string heard =
      absl::StrCat("heard ", AgeText(worker.silence_ms()),
                   " ago, of a lease of ", AgeText(worker.lease_ms()));
  if (state == "lost") {
    Add(Verdict::kProblem, about,
        absl::StrCat("it is lost: ", heard,
                     "; start it again, or look at its log"));
  } else if (state == "suspected" ||
             static_cast<double>(worker.silence_ms()) >
                 kSilentShare * static_cast<double>(worker.lease_ms())) {
    Add(Verdict::kWarning, about,
        absl::StrCat("it is late: ", heard, "; look at its machine and link"));
  } else if (!worker.drain_reason().empty()) {
    Add(Verdict::kWarning, about,
        absl::StrCat("it is ", state,
                     " and gets nothing new: ", worker.drain_reason()));
  } else if (state == "cordoned" || state == "drained" || state == "draining") {
    Add(Verdict::kWarning, about,
        absl::StrCat("it is ", state,
                     " and gets nothing new; take it back with: skerryctl "
                     "uncordon ",
                     worker.worker()));
  }
  if (!worker.apart().empty()) {
    Add(Verdict::kProblem, about, worker.apart());
  }
  if (worker.has_contender() &&
      worker.contender().age_ms() <= kContenderMsMax) {
    Add(Verdict::kProblem, about,
        absl::StrCat("two processes have this name: the one at ",
                     worker.address(), " serves, and one at ",
                     worker.contender().address(), " was refused ",
                     AgeText(worker.contender().age_ms()),
                     " ago; give that one another --name, or stop it"));
  }
  if (evidence_.version->release() != worker.release()) {
    Add(Verdict::kWarning, about,
        absl::StrCat("its release is ", worker.release(),
                     " and the coordinator's ", evidence_.version->release(),
                     "; install the same"));
  }
}

void Doctor::Workers() {
  const auto& workers = evidence_.workers.workers();
  if (workers.empty()) {
    Add(Verdict::kProblem, "workers",
        absl::StrCat("none has registered; start skerry-worker --coordinator ",
                     evidence_.address));
    return;
  }
  const size_t before = wrong_;
  for (const v1::WorkerView& worker : workers) Worker(worker);
  AllWell(before, "workers",
          absl::StrCat("all ", workers.size(),
                       " are connected, within their leases and of one "
                       "release"));
}

// Only an operator can tell whether anybody needs what a coordinator does not
// know of.
void Doctor::StoredJobs() {
  for (const v1::WorkerView& worker : evidence_.workers.workers()) {
    std::vector<std::string> folders;
    uint64_t bytes = 0;
    for (const v1::StoredJobView& stored : worker.stored_jobs()) {
      if (stored.state() != kUnknownJob) continue;
      folders.push_back(JobFolderName(stored.job(), stored.uid()));
      bytes += stored.bytes();
    }
    if (folders.empty()) continue;
    const size_t count = folders.size();
    if (count > kFoldersNamed) folders.resize(kFoldersNamed);
    Add(Verdict::kWarning, "worker " + worker.worker(),
        absl::StrCat("its disk has ", BytesText(bytes), " of ", count,
                     " jobs that this coordinator does not know (",
                     absl::StrJoin(folders, ", "),
                     count > kFoldersNamed ? ", ..." : "",
                     "); if it was not started on an old or a wrong journal, "
                     "remove them with: skerryctl clean ",
                     worker.worker()));
  }
}

void Doctor::Machines() {
  const size_t before = wrong_;
  for (const v1::WorkerView& worker : evidence_.workers.workers()) {
    if (worker.state() == "lost") continue;
    const std::string about = "worker " + worker.worker();
    if (worker.has_clock_ahead_ms()) Clock(about, worker.clock_ahead_ms(), 0);
    Room(about, worker.machine().state_free_bytes(),
         worker.machine().state_bytes());
  }
  if (evidence_.workers.workers_size() == 0) return;
  AllWell(before, "machines",
          "the workers' clocks are the coordinator's, and their disks have "
          "room");
}

void Doctor::Ports() {
  const size_t before = wrong_;
  size_t elsewhere = 0;
  for (const auto& [worker, reached] : evidence_.ports) {
    if (reached.ok()) continue;
    const auto& all = evidence_.workers.workers();
    const bool is_reached = std::any_of(
        all.begin(), all.end(), [&name = worker](const v1::WorkerView& one) {
          return one.worker() == name && IsReachedByAny(one);
        });
    // What skerryctl wants of it comes through the coordinator.
    if (is_reached) {
      ++elsewhere;
      continue;
    }
    Add(Verdict::kProblem, "worker " + worker,
        absl::StrCat(reached.message(),
                     "; open the port, or correct its --listen and "
                     "--advertise"));
  }
  if (evidence_.ports.empty()) return;
  AllWell(
      before, "ports",
      absl::StrCat("those of ", evidence_.ports.size() - elsewhere,
                   " worker(s) answer from here",
                   elsewhere == 0 ? ""
                                  : absl::StrCat(", and those of ", elsewhere,
                                                 " to other workers only")));
}

// By the workers that it trains with.
void Doctor::Reach() {
  for (const v1::WorkerView& worker : evidence_.workers.workers()) {
    if (worker.unreached_by().empty()) continue;
    const std::set<std::string> missing(worker.unreached_by().begin(),
                                        worker.unreached_by().end());
    const std::set<std::string> jobs(worker.jobs().begin(),
                                     worker.jobs().end());
    bool is_reached = false;
    for (const v1::WorkerView& peer : evidence_.workers.workers()) {
      if (peer.island() == worker.island() || peer.state() == "lost" ||
          missing.contains(peer.worker())) {
        continue;
      }
      is_reached |= std::any_of(
          peer.jobs().begin(), peer.jobs().end(),
          [&](const std::string& job) { return jobs.contains(job); });
    }
    const std::string who = absl::StrJoin(missing, ", ");
    const char* const advice =
        !worker.relayed().empty()
            ? "; look in its log and its relay's for bulk.reverse.lost and "
              "transport.call.refused, and start another worker with --relay"
        : IsNotDialled(worker)
            ? "; look in its log for bulk.reverse.lost"
            : "; correct its --advertise, open the port, or start it with "
              "--outbound-only";
    Add(is_reached ? Verdict::kWarning : Verdict::kProblem,
        "worker " + worker.worker(),
        is_reached ? absl::StrCat("it is not reached by ", who, advice)
                   : absl::StrCat("it is reached by nobody: ", who,
                                  " got no answer for 30 s", advice));
  }
}

void Doctor::Links() {
  const size_t before = wrong_;
  size_t measured = 0;
  for (const v1::WorkerView& worker : evidence_.workers.workers()) {
    for (const v1::LinkView& link : worker.links()) {
      ++measured;
      const bool slow = link.bytes_per_s() < kSlowBytesPerS;
      if (!slow && link.round_trip_s() < kFarS) continue;
      Add(Verdict::kWarning,
          absl::StrCat("link ", worker.worker(), " to ", link.worker()),
          absl::StrFormat("%s, round trip %.0f ms; a longer tau or codec: "
                          "adaptive hides more of it",
                          RateText(link.bytes_per_s()),
                          link.round_trip_s() * 1e3));
    }
  }
  AllWell(before, "links",
          measured == 0 ? std::string("none is measured yet")
                        : absl::StrCat("all ", measured,
                                       " that are measured are fast enough"));
}

void Doctor::Job(const v1::JobView& job) {
  const std::string about = "job " + job.spec().name();
  if (job.phase() == v1::JOB_PHASE_FAILED) {
    Add(Verdict::kWarning, about,
        absl::StrCat("it has failed: ", job.reason(), "; skerryctl delete job ",
                     job.spec().name(), " once that is known"));
    return;
  }
  for (const v1::Condition& condition : job.conditions()) {
    Add(condition.needs_help() ? Verdict::kProblem : Verdict::kWarning, about,
        condition.text());
  }
  std::vector<std::string> hung;
  for (const v1::ReplicaView& replica : job.replicas()) {
    for (const v1::SeatView& seat : replica.seats()) {
      if (!seat.trainer_trouble().empty()) hung.push_back(seat.worker());
    }
  }
  if (job.phase() != v1::JOB_PHASE_RUNNING) return;
  const v1::JobCounters& counters = job.counters();
  const double busy = counters.compute_s() + counters.stall_s();
  if (busy > 0 && counters.stall_s() > kStallShare * busy) {
    const std::string advice =
        hung.empty()
            ? "a longer tau, or codec: adaptive"
            : absl::StrCat("others wait for worker ", absl::StrJoin(hung, ", "),
                           ", whose trainer does not go on: look at "
                           "its machine");
    Add(Verdict::kWarning, about,
        absl::StrFormat("its workers stall %.0f %% of the time; %s",
                        100 * counters.stall_s() / busy, advice));
  }
}

void Doctor::Jobs() {
  const size_t before = wrong_;
  for (const v1::JobView& job : evidence_.jobs.jobs()) Job(job);
  AllWell(before, "jobs",
          absl::StrCat(evidence_.jobs.jobs_size(),
                       " known, none waits or has trouble"));
}

void Doctor::Folders() {
  for (const Evidence::Folder& folder : evidence_.folders) {
    const std::string about = "folder " + folder.path;
    const size_t before = wrong_;
    if (!folder.usable.ok()) {
      Add(Verdict::kProblem, about, std::string(folder.usable.message()));
      continue;
    }
    Room(about, folder.disk.state_free_bytes, folder.disk.state_bytes);
    AllWell(before, about,
            absl::StrCat("it can be used, and ",
                         BytesText(folder.disk.state_free_bytes), " are free"));
  }
}

std::vector<Check> Doctor::Diagnose() && {
  if (Coordinator()) {
    CoordinatorMachine();
    Workers();
    Machines();
    StoredJobs();
    Ports();
    Reach();
    for (const Check& check : DiagnoseReach(evidence_.workers)) {
      Add(check.verdict, check.about, check.text);
    }
    Links();
    Jobs();
  }
  Folders();
  return std::move(checks_);
}

const char* WordOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kWarning:
      return "warning";
    case Verdict::kProblem:
      return "problem";
  }
  return "";
}

size_t Count(const std::vector<Check>& checks, Verdict verdict) {
  return static_cast<size_t>(std::count_if(
      checks.begin(), checks.end(),
      [&](const Check& check) { return check.verdict == verdict; }));
}

}  // namespace

bool IsNotDialled(const v1::WorkerView& worker) {
  return !worker.reached().empty() && worker.reached() != "dialled";
}

std::vector<Check> Diagnose(const Evidence& evidence) {
  return Doctor(evidence).Diagnose();
}

std::string ChecksText(const std::vector<Check>& checks) {
  std::string text;
  for (const Check& check : checks) {
    absl::StrAppendFormat(&text, "%-8s %s: %s\n", WordOf(check.verdict),
                          Printable(check.about), Printable(check.text));
  }
  return text;
}

std::string ChecksJson(const std::vector<Check>& checks) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    list.push_back({{"verdict", WordOf(check.verdict)},
                    {"about", check.about},
                    {"text", check.text}});
  }
  const nlohmann::ordered_json all = {
      {"problems", CountProblems(checks)},
      {"warnings", Count(checks, Verdict::kWarning)},
      {"checks", std::move(list)}};
  return all.dump(1, ' ', false,
                  nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

size_t CountProblems(const std::vector<Check>& checks) {
  return Count(checks, Verdict::kProblem);
}

}  // namespace skerry::cli
