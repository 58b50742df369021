// What faults and operators do to a world.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/sim/coordinator_node.h"
#include "tests/sim/job_specs.h"
#include "tests/sim/worker_node.h"
#include "tests/sim/world.h"

namespace skerry::sim {
namespace {

// An operator asks again when nothing was heard.
constexpr absl::Duration kAskAgain = absl::Milliseconds(200);

}  // namespace

void World::When(absl::Duration lasts, Timeline::Task task) {
  const Instant calm{schedule.calm_at};
  const Instant end = timeline.now() + lasts;
  timeline.At(timeline.now() < calm ? std::min(end, calm) : end,
              std::move(task));
}

void World::Apply(const Fault& fault) {
  history.Add(timeline.now(), ToText(fault));
  switch (fault.kind) {
    case FaultKind::kCut:
    case FaultKind::kIsolate:
    case FaultKind::kFlap:
    case FaultKind::kSlowLink:
      return ApplyToNetwork(fault);
    case FaultKind::kDrain:
    case FaultKind::kPreempt:
    case FaultKind::kCancel:
    case FaultKind::kPauseJob:
    case FaultKind::kMark:
      return ApplyByOperator(fault);
    case FaultKind::kStrike:
      return strikes_.push_back(fault);
    default:
      return ApplyToMachine(fault);
  }
}

void World::Cut(HostId from, HostId to, int change) {
  if (from != to) network.link(from, to).cuts += change;
}

void World::CutBoth(HostId host, int change) {
  for (HostId other = 0; other < machines_.size(); ++other) {
    Cut(host, other, change);
    Cut(other, host, change);
  }
}

void World::Flap(HostId host, absl::Duration period, Instant until, bool cut) {
  if (cut) CutBoth(host, -1);
  if (timeline.now() >= until) return;
  if (!cut) CutBoth(host, 1);
  timeline.At(
      std::min(timeline.now() + period, until),
      [this, host, period, until, cut] { Flap(host, period, until, !cut); });
}

void World::ApplyToNetwork(const Fault& fault) {
  const HostId host = fault.host;
  if (fault.kind == FaultKind::kCut) {
    Cut(host, fault.other, 1);
    When(fault.lasts, [this, fault] { Cut(fault.host, fault.other, -1); });
  } else if (fault.kind == FaultKind::kIsolate) {
    CutBoth(host, 1);
    When(fault.lasts, [this, host] { CutBoth(host, -1); });
  } else if (fault.kind == FaultKind::kFlap) {
    const Instant end =
        std::min(timeline.now() + fault.lasts, Instant(schedule.calm_at));
    Flap(host, absl::Seconds(fault.amount), end, false);
  } else {
    for (HostId to = 0; to < machines_.size(); ++to) {
      network.link(host, to).slowness *= fault.amount;
    }
    When(fault.lasts, [this, fault] {
      for (HostId to = 0; to < machines_.size(); ++to) {
        network.link(fault.host, to).slowness /= fault.amount;
      }
    });
  }
}

void World::ApplyToMachine(const Fault& fault) {
  const HostId host = fault.host;
  Machine& machine = machines_[host];
  Process* process = ProcessOf(host);
  switch (fault.kind) {
    case FaultKind::kKill:
      return Kill(host, WorkerDisk::End::kKilled, fault.lasts);
    case FaultKind::kPowerLoss:
      return Kill(host, WorkerDisk::End::kPowerLost, fault.lasts);
    case FaultKind::kDiskLoss:
      return Kill(host, WorkerDisk::End::kLost, fault.lasts);
    case FaultKind::kTrainerDies:
      if (worker_node(host) != nullptr) worker_node(host)->KillTrainers();
      return;
    case FaultKind::kPause:
      if (process == nullptr) return;
      process->Pause();
      When(fault.lasts, [this, host, run = machine.run] {
        if (ProcessOf(host) != nullptr && machines_[host].run == run) {
          ProcessOf(host)->Resume();
        }
      });
      return;
    case FaultKind::kSlowDisk:
      machine.disk->slowness *= fault.amount;
      if (host == 0) journal_disk_.slowness *= fault.amount;
      When(fault.lasts, [this, fault] {
        machines_[fault.host].disk->slowness /= fault.amount;
        if (fault.host == 0) journal_disk_.slowness /= fault.amount;
      });
      return;
    case FaultKind::kDiskFull:
      machine.disk->full = true;
      if (host == 0) journal_disk_.full = true;
      When(fault.lasts, [this, host] {
        machines_[host].disk->full = false;
        if (host == 0) journal_disk_.full = false;
      });
      return;
    case FaultKind::kDiskFails:
      machine.disk->fails_next = host != 0;
      if (host == 0) journal_disk_.fails_next = true;
      return;
    case FaultKind::kBitRot:
      return Rot(host);
    case FaultKind::kClockRate:
      machine.clock.SetRate(timeline.now(), fault.amount);
      if (process != nullptr) process->ClockChanged();
      When(fault.lasts, [this, host] {
        machines_[host].clock.SetRate(timeline.now(), 1.0);
        if (ProcessOf(host) != nullptr) ProcessOf(host)->ClockChanged();
      });
      return;
    case FaultKind::kClockLeap:
      machine.clock.Leap(timeline.now(), absl::Seconds(fault.amount));
      if (process != nullptr) process->ClockChanged();
      return;
    default:
      return;
  }
}

void World::StrikeAt(const coordinator::Entry& entry) {
  for (const Moment moment : moments_.Of(entry)) {
    std::erase_if(strikes_, [this, moment](const Fault& fault) {
      if (fault.other != static_cast<uint32_t>(moment)) return false;
      timeline.After(absl::Seconds(fault.amount), [this, fault] {
        if (timeline.now() >= Instant(schedule.calm_at)) return;
        history.Add(timeline.now(), "strike ", fault.host);
        Kill(fault.host, WorkerDisk::End::kKilled, fault.lasts);
      });
      return true;
    });
  }
}

void World::ApplyByOperator(const Fault& fault) {
  const HostId host = fault.host;
  if (fault.kind == FaultKind::kCancel) {
    if (coordinator_ == nullptr || fault.other >= schedule.jobs.size()) return;
    coordinator_->shell().Do(
        [name = absl::StrCat("job-", fault.other)](
            coordinator::Cluster& cluster,
            Instant now) -> coordinator::ClusterShell::Settled {
          const auto job = cluster.FindJob(name);
          if (job.ok()) cluster.Cancel(*job, now).IgnoreError();
          return [](const coordinator::Cluster&, Instant) {};
        });
    return;
  }
  if (fault.kind == FaultKind::kPauseJob) {
    const std::string job = absl::StrCat("job-", fault.other);
    AskPaused(job, true);
    When(fault.lasts, [this, job] { AskPaused(job, false); });
    return;
  }
  if (fault.kind == FaultKind::kMark) {
    const std::string worker = AddressOf(host);
    AskIntent(worker, fault.amount == 2 ? coordinator::WorkerIntent::kDrain
                                        : coordinator::WorkerIntent::kCordon);
    When(fault.lasts, [this, worker] {
      AskIntent(worker, coordinator::WorkerIntent::kServe);
    });
    return;
  }
  if (worker_node(host) == nullptr) return;
  // A notice reaches the process as a signal does.
  worker_node(host)->process().Post([this, host, run = machines_[host].run] {
    if (worker_node(host) != nullptr && machines_[host].run == run) {
      worker_node(host)->Drain();
    }
  });
  const absl::Duration notice = fault.kind == FaultKind::kPreempt
                                    ? absl::Seconds(fault.amount)
                                    : fault.lasts + schedule.lease;
  When(notice, [this, fault, run = machines_[host].run] {
    if (machines_[fault.host].run != run ||
        worker_node(fault.host) == nullptr) {
      return;
    }
    Kill(fault.host, WorkerDisk::End::kKilled, fault.lasts);
  });
}

// What no other disk has could not be restored yet, so it is left alone.
void World::Rot(HostId host) {
  WorkerDisk& disk = *machines_[host].disk;
  std::vector<std::string> doubled;
  for (const std::string& path : disk.Paths()) {
    for (HostId other = 1; other < machines_.size(); ++other) {
      if (other == host) continue;
      const FileBytes copy = machines_[other].disk->Find(path);
      if (copy == nullptr || *copy != *disk.Find(path)) continue;
      doubled.push_back(path);
      break;
    }
  }
  if (!doubled.empty()) disk.Rot(doubled[random.Below(doubled.size())]);
}

void World::AskPaused(const std::string& job, bool paused) {
  if (coordinator_ == nullptr) return;
  coordinator_->shell().Do(
      [job, paused](coordinator::Cluster& cluster,
                    Instant now) -> coordinator::ClusterShell::Settled {
        const auto id = cluster.FindJob(job);
        if (id.ok()) cluster.SetPaused(*id, paused, now).IgnoreError();
        return [](const coordinator::Cluster&, Instant) {};
      });
}

void World::AskIntent(const std::string& worker,
                      coordinator::WorkerIntent intent) {
  if (coordinator_ == nullptr) return;
  coordinator_->shell().Do(
      [worker, intent](coordinator::Cluster& cluster,
                       Instant now) -> coordinator::ClusterShell::Settled {
        cluster.SetIntent(worker, intent, now).IgnoreError();
        return [](const coordinator::Cluster&, Instant) {};
      });
}

void World::Release() {
  for (const JobId job : paused_) AskPaused(job_names_[job], false);
  for (const std::string& worker : marked_) {
    AskIntent(worker, coordinator::WorkerIntent::kServe);
  }
  timeline.After(kAskAgain, [this] { Release(); });
}

void World::Submit(uint32_t job) {
  const std::string key = absl::StrCat("key-", job);
  if (submitted_.contains(key)) return;
  if (coordinator_ != nullptr) {
    coordinator_->shell().Do(
        [spec = SpecOf(schedule.jobs[job], job), key](
            coordinator::Cluster& cluster,
            Instant now) -> coordinator::ClusterShell::Settled {
          cluster.Submit(spec, key, now).status().IgnoreError();
          return [](const coordinator::Cluster&, Instant) {};
        });
  }
  timeline.After(kAskAgain, [this, job] { Submit(job); });
}

void World::Calm() {
  history.Add(timeline.now(), "calm");
  strikes_.clear();
  network.set_faults({});
  for (HostId host = 0; host < machines_.size(); ++host) Start(host);
  Release();
}

}  // namespace skerry::sim
