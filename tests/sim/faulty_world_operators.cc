// What operators do to a faulty world, by intent and by mistake.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "simulator/coordinator_node.h"
#include "simulator/worker_node.h"
#include "tests/sim/faulty_world.h"
#include "tests/sim/job_specs.h"

namespace skerry::sim {
namespace {

// Operators look again.
constexpr absl::Duration kAskAgain = absl::Milliseconds(200);
// Until a coordinator runs on the journal that was put in place.
constexpr absl::Duration kReplacing = absl::Milliseconds(200);
// At so many looks a job may have no state before the operator decides.
constexpr int kLooksMax = 4;
// After so many looks at a job that stands it is given up.
constexpr int kTriesMax = 4;

}  // namespace

void FaultyWorld::NoteOperators(const coordinator::Entry& entry) {
  if (const auto* job = std::get_if<coordinator::JobSubmitted>(&entry.record)) {
    job_names_[JobId(entry.index.value())] = job->spec.name;
  } else if (const auto* end =
                 std::get_if<coordinator::JobEnded>(&entry.record)) {
    paused_.erase(end->job);
  } else if (const auto* held =
                 std::get_if<coordinator::JobPaused>(&entry.record)) {
    paused_.erase(held->job);
    if (held->paused) paused_.insert(held->job);
  } else if (const auto* mark =
                 std::get_if<coordinator::WorkerMarked>(&entry.record)) {
    marked_.erase(mark->worker);
    if (mark->intent != coordinator::WorkerIntent::kServe) {
      marked_.insert(mark->worker);
    }
  }
}

void FaultyWorld::OnJournalReplaced(
    Revision, const std::vector<coordinator::Entry>& milestones) {
  job_names_.clear();
  paused_.clear();
  marked_.clear();
  for (const coordinator::Entry& entry : milestones) NoteOperators(entry);
  // A job that the copy does not have is submitted anew.
  for (uint32_t job = 0; job < schedule.jobs.size(); ++job) {
    Submit(SpecOf(schedule.jobs[job], job), absl::StrCat("key-", job));
  }
  timeline.After(schedule.lease, [this] { Decide(0); });
}

// Disks that are gone may come back, and a coordinator goes back to a
// checkpoint by itself: only what is still so at a few looks needs an operator.
bool FaultyWorld::StandsForLong(const coordinator::JobView& job) {
  if (job.diverged) return true;
  const bool lost =
      std::any_of(job.conditions.begin(), job.conditions.end(),
                  [](const coordinator::Condition& one) {
                    return one.kind == coordinator::ConditionKind::kSpansLost;
                  });
  int& looks = looks_at_lost_[job.id];
  looks = lost ? looks + 1 : 0;
  return looks > kLooksMax;
}

// An operator looks at jobs that stand, keeps what workers hold where they
// agree, goes back to the newest checkpoint otherwise, and gives a job up of
// which nothing can be kept.
void FaultyWorld::Decide(int tries) {
  if (coordinator_node() != nullptr) {
    coordinator_node()->shell().Do(
        [this, tries, all = AllWorkersRun()](
            coordinator::Cluster& cluster,
            Instant now) -> coordinator::ClusterShell::Settled {
          for (const coordinator::JobView& job : cluster.ViewJobs(now)) {
            if (!StandsForLong(job)) continue;
            // A worker that is away may have a newer state of its own.
            if (!all) continue;
            if (cluster.RestoreJob(job.id, std::nullopt, now).ok()) continue;
            const auto saved = saved_states.Newest(job.id);
            const bool back = saved.has_value() &&
                              cluster.RestoreJob(job.id, *saved, now).ok();
            if (!back && tries >= kTriesMax) {
              cluster.Cancel(job.id, now).IgnoreError();
            }
          }
          return [](const coordinator::Cluster&, Instant) {};
        });
  }
  timeline.After(schedule.lease / 2, [this, tries] { Decide(tries + 1); });
}

// Where jobs are not saved, the disk of a process that worked under the name
// may be the only one with a result: it goes on under a name of its own until
// nobody needs it.
void FaultyWorld::Retire(HostId spare) {
  StopForGood(spare);
  if (HasCheckpoints(schedule)) return;
  machine(spare).own_name = true;
  Start(spare);
  // Until it has said what it has, nobody could need it.
  timeline.After(schedule.lease, [this, spare] { DrainUntilReleased(spare); });
}

void FaultyWorld::DrainUntilReleased(HostId spare) {
  if (worker_node(spare) == nullptr) return StopForGood(spare);
  worker_node(spare)->process().Post([this, spare, run = machine(spare).run] {
    if (worker_node(spare) != nullptr && machine(spare).run == run) {
      worker_node(spare)->Drain();
    }
  });
  timeline.After(kAskAgain, [this, spare] { DrainUntilReleased(spare); });
}

void FaultyWorld::ApplyByMistake(const Fault& fault) {
  if (fault.kind == FaultKind::kFolderGone) {
    machine(fault.host).disk->RemoveFolders();
  } else if (fault.kind == FaultKind::kTwin) {
    HostId twin = 1;
    while (!IsSpare(twin) || NameOf(twin) != PlainNameOf(fault.host)) ++twin;
    Start(twin);
    When(fault.lasts, [this, twin] { Retire(twin); });
  } else {
    When(fault.lasts, [this, copy = journal_disk()] {
      ReplaceJournal(copy, EndOf(kReplacing));
    });
  }
}

void FaultyWorld::ApplyByOperator(const Fault& fault) {
  const HostId host = fault.host;
  if (fault.kind == FaultKind::kCancel) {
    if (coordinator_node() == nullptr || fault.other >= schedule.jobs.size())
      return;
    const std::string name = absl::StrCat("job-", fault.other);
    coordinator_node()->shell().Do(
        [name](coordinator::Cluster& cluster,
               Instant now) -> coordinator::ClusterShell::Settled {
          const auto job = cluster.FindJob(name);
          if (job.ok()) cluster.Cancel(*job, now).IgnoreError();
          return [](const coordinator::Cluster&, Instant) {};
        });
    // Workers that are away then hear of it when they come back.
    When(schedule.lease, [this, name] { AskDeleted(name); });
    return;
  }
  if (fault.kind == FaultKind::kPauseJob) {
    const std::string job = absl::StrCat("job-", fault.other);
    AskPaused(job, true);
    When(fault.lasts, [this, job] { AskPaused(job, false); });
    return;
  }
  if (fault.kind == FaultKind::kMark) {
    const std::string worker = PlainNameOf(host);
    AskIntent(worker, fault.amount == 2 ? coordinator::WorkerIntent::kDrain
                                        : coordinator::WorkerIntent::kCordon);
    When(fault.lasts, [this, worker] {
      AskIntent(worker, coordinator::WorkerIntent::kServe);
    });
    return;
  }
  if (worker_node(host) == nullptr) return;
  // A notice reaches the process as a signal does.
  worker_node(host)->process().Post([this, host, run = machine(host).run] {
    if (worker_node(host) != nullptr && machine(host).run == run) {
      worker_node(host)->Drain();
    }
  });
  const absl::Duration notice = fault.kind == FaultKind::kPreempt
                                    ? absl::Seconds(fault.amount)
                                    : fault.lasts + schedule.lease;
  When(notice, [this, fault, run = machine(host).run] {
    if (machine(fault.host).run != run || worker_node(fault.host) == nullptr) {
      return;
    }
    Kill(fault.host, WorkerDisk::End::kKilled, EndOf(fault.lasts));
  });
}

void FaultyWorld::AskPaused(const std::string& job, bool paused) {
  if (coordinator_node() == nullptr) return;
  coordinator_node()->shell().Do(
      [job, paused](coordinator::Cluster& cluster,
                    Instant now) -> coordinator::ClusterShell::Settled {
        const auto id = cluster.FindJob(job);
        if (id.ok()) cluster.SetPaused(*id, paused, now).IgnoreError();
        return [](const coordinator::Cluster&, Instant) {};
      });
}

void FaultyWorld::AskDeleted(const std::string& job) {
  if (coordinator_node() == nullptr) return;
  coordinator_node()->shell().Do(
      [job](coordinator::Cluster& cluster,
            Instant now) -> coordinator::ClusterShell::Settled {
        const auto id = cluster.FindJob(job);
        if (id.ok()) cluster.Delete(*id, now).IgnoreError();
        return [](const coordinator::Cluster&, Instant) {};
      });
}

void FaultyWorld::AskIntent(const std::string& worker,
                            coordinator::WorkerIntent intent) {
  if (coordinator_node() == nullptr) return;
  coordinator_node()->shell().Do(
      [worker, intent](coordinator::Cluster& cluster,
                       Instant now) -> coordinator::ClusterShell::Settled {
        cluster.SetIntent(worker, intent, now).IgnoreError();
        return [](const coordinator::Cluster&, Instant) {};
      });
}

void FaultyWorld::Release() {
  for (const JobId job : paused_) AskPaused(job_names_[job], false);
  for (const std::string& worker : marked_) {
    AskIntent(worker, coordinator::WorkerIntent::kServe);
  }
  timeline.After(kAskAgain, [this] { Release(); });
}

}  // namespace skerry::sim
