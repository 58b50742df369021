#include "tests/sim/faulty_world.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "simulator/coordinator_node.h"
#include "simulator/worker_node.h"
#include "tests/sim/job_specs.h"
#include "tests/sim/language_model.h"

namespace skerry::sim {
namespace {

// A sleep of so much of a lease is noticed. Everyone has a lease after it, less
// what a clock may leap.
constexpr double kSleepOfLease = 0.5;
constexpr double kLeaseLeft = 0.45;
constexpr double kBytesPerSecondMin = 1e6;
constexpr double kBytesPerSecondMax = 1e9;

coordinator::ClusterOptions OptionsOf(const Schedule& schedule) {
  coordinator::ClusterOptions options;
  options.lease = schedule.lease;
  options.settle = schedule.lease / 5;
  options.takeover_wait = 2 * schedule.lease;
  options.attempt_deadline_min = schedule.lease / 10;
  // What nobody evaluates is seen as a job that does not end.
  options.final_evaluation_max = 20 * schedule.lease;
  options.members_max = 64;
  options.seats_max = schedule.seats_max;
  options.restore_wait =
      HasCheckpoints(schedule) ? schedule.lease / 10 : schedule.lease;
  return options;
}

// The spare host whose worker has the name of that on `host`; 0: there is none.
HostId TwinOf(const Setting& setting, HostId host) {
  for (size_t i = 0; i < setting.workers.size(); ++i) {
    if (setting.workers[i].name == PlainNameOf(host)) {
      return static_cast<HostId>(i + 1);
    }
  }
  return 0;
}

// Watches as much shorter than the real ones as leases are, so that a trainer
// that hangs is found within the bounds that hold after calm.
worker::TrainerWatchOptions WatchOf(const Schedule& schedule) {
  worker::TrainerWatchOptions options;
  options.least = schedule.lease / 4;
  options.unknown = schedule.lease / 2;
  options.copy = schedule.lease / 2;
  options.interval = schedule.lease / 20;
  return options;
}

Setting SettingOf(const Schedule& schedule) {
  Setting setting;
  setting.seed = schedule.seed;
  setting.workers = schedule.workers;
  setting.options = OptionsOf(schedule);
  for (uint32_t job = 0; job < schedule.jobs.size(); ++job) {
    const std::string name = absl::StrCat("job-", job);
    setting.elements[name] = schedule.jobs[job].elements;
    setting.average_begins[name] = schedule.jobs[job].average_begin;
    setting.validation_samples[name] = schedule.jobs[job].validation_samples;
  }
  setting.programs = {{kProgram, std::string(64, 'b')}};
  setting.programs_begin_differently = true;
  setting.watch = WatchOf(schedule);
  setting.ended_idle = schedule.lease / 10;
  if (schedule.language_model) {
    setting.make_model = [](const SimModelRequest&) {
      return MakeLanguageModel();
    };
  }
  for (const Fault& fault : schedule.faults) {
    if (fault.kind != FaultKind::kTwin || TwinOf(setting, fault.host) != 0) {
      continue;
    }
    WorkerShape twin = schedule.workers[fault.host - 1];
    twin.name = PlainNameOf(fault.host);
    twin.spare = true;
    setting.workers.push_back(std::move(twin));
  }
  setting.compact_records = schedule.compact_records;
  setting.damaged = schedule.links.broken;
  return setting;
}

}  // namespace

FaultyWorld::FaultyWorld(const Schedule& given, Observer& watcher,
                         size_t history_lines)
    : World(SettingOf(given), watcher, history_lines), schedule(given) {
  DrawLinks();
  network.set_faults(schedule.links);
  for (HostId host = 0; host < hosts(); ++host) {
    if (IsSpare(host)) continue;
    timeline.After(absl::Milliseconds(1 + random.Below(50)),
                   [this, host] { Start(host); });
  }
  for (uint32_t job = 0; job < schedule.jobs.size(); ++job) {
    timeline.After(schedule.jobs[job].submitted_at, [this, job] {
      Submit(SpecOf(schedule.jobs[job], job), absl::StrCat("key-", job));
    });
  }
  for (const Fault& fault : schedule.faults) {
    timeline.After(fault.at, [this, fault] { Apply(fault); });
  }
  timeline.After(schedule.calm_at, [this] { Calm(); });
}

FaultyWorld::~FaultyWorld() { EndPrograms(); }

void FaultyWorld::DrawLinks() {
  for (HostId from = 0; from < hosts(); ++from) {
    for (HostId to = 0; to < hosts(); ++to) {
      Link& link = network.link(from, to);
      const double most =
          absl::FDivDuration(schedule.delay_max, schedule.delay_min);
      link.delay = schedule.delay_min * std::pow(most, random.Uniform());
      if (from > 0 && to > 0 && shape(from).island == shape(to).island) {
        link.delay = schedule.delay_min;
      }
      link.bytes_per_s =
          kBytesPerSecondMin *
          std::pow(kBytesPerSecondMax / kBytesPerSecondMin, random.Uniform());
    }
  }
}

void FaultyWorld::OnRecord(const coordinator::Entry& entry) {
  NoteOperators(entry);
  CheckAwake(entry);
  StrikeAt(entry);
}

// If two sleeps overlap, the end of either one wakes the coordinator, so the
// second to end finds no sleep.
void FaultyWorld::OnAwake() {
  const std::optional<Instant> since =
      std::exchange(sleeps_since_, std::nullopt);
  if (since.has_value() &&
      timeline.now() - *since >= kSleepOfLease * schedule.lease) {
    woke_ = timeline.now();
  }
}

// Checks that no worker loses its lease soon after the coordinator woke. The
// coordinator has to give all workers a whole lease to be heard.
void FaultyWorld::CheckAwake(const coordinator::Entry& entry) {
  const auto* left = std::get_if<coordinator::WorkerLeft>(&entry.record);
  if (left == nullptr || !woke_.has_value() ||
      timeline.now() - *woke_ >= kLeaseLeft * schedule.lease) {
    return;
  }
  observer.OnBroken(absl::StrCat("worker ", left->worker,
                                 " lost its lease while the coordinator "
                                 "slept"));
}

Instant FaultyWorld::EndOf(absl::Duration lasts) const {
  const Instant calm{schedule.calm_at};
  const Instant end = timeline.now() + lasts;
  return timeline.now() <= calm ? std::min(end, calm) : end;
}

void FaultyWorld::When(absl::Duration lasts, Timeline::Task task) {
  timeline.At(EndOf(lasts), std::move(task));
}

void FaultyWorld::Apply(const Fault& fault) {
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
    case FaultKind::kTwin:
    case FaultKind::kFolderGone:
    case FaultKind::kOldJournal:
      return ApplyByMistake(fault);
    default:
      return ApplyToMachine(fault);
  }
}

void FaultyWorld::Cut(HostId from, HostId to, int change) {
  if (from != to) network.link(from, to).cuts += change;
}

void FaultyWorld::CutBoth(HostId host, int change) {
  for (HostId other = 0; other < hosts(); ++other) {
    Cut(host, other, change);
    Cut(other, host, change);
  }
}

void FaultyWorld::Flap(HostId host, absl::Duration period, Instant until,
                       bool cut) {
  if (cut) CutBoth(host, -1);
  if (timeline.now() >= until) return;
  if (!cut) CutBoth(host, 1);
  timeline.At(
      std::min(timeline.now() + period, until),
      [this, host, period, until, cut] { Flap(host, period, until, !cut); });
}

void FaultyWorld::ApplyToNetwork(const Fault& fault) {
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
    for (HostId to = 0; to < hosts(); ++to) {
      network.link(host, to).slowness *= fault.amount;
    }
    When(fault.lasts, [this, fault] {
      for (HostId to = 0; to < hosts(); ++to) {
        network.link(fault.host, to).slowness /= fault.amount;
      }
    });
  }
}

void FaultyWorld::ApplyToMachine(const Fault& fault) {
  const HostId host = fault.host;
  Machine& own = machine(host);
  Process* process = ProcessOf(host);
  switch (fault.kind) {
    case FaultKind::kKill:
      return Kill(host, WorkerDisk::End::kKilled, EndOf(fault.lasts));
    case FaultKind::kPowerLoss:
      return Kill(host, WorkerDisk::End::kPowerLost, EndOf(fault.lasts));
    case FaultKind::kDiskLoss:
      return Kill(host, WorkerDisk::End::kLost, EndOf(fault.lasts));
    case FaultKind::kTrainerHangs:
      if (worker_node(host) != nullptr) {
        worker_node(host)->HangTrainers(fault.amount == 1 ? Hang::kStandstill
                                                          : Hang::kStopped);
      }
      return;
    case FaultKind::kTrainerDies:
      if (worker_node(host) != nullptr) worker_node(host)->KillTrainers();
      return;
    case FaultKind::kPause:
      if (process == nullptr) return;
      process->Pause();
      if (host == 0) sleeps_since_ = timeline.now();
      When(fault.lasts, [this, host, run = own.run] {
        if (ProcessOf(host) == nullptr || machine(host).run != run) return;
        ProcessOf(host)->Resume();
        if (host == 0) OnAwake();
      });
      return;
    case FaultKind::kSlowDisk:
      own.disk->slowness *= fault.amount;
      if (host == 0) journal_disk().slowness *= fault.amount;
      When(fault.lasts, [this, fault] {
        machine(fault.host).disk->slowness /= fault.amount;
        if (fault.host == 0) journal_disk().slowness /= fault.amount;
      });
      return;
    case FaultKind::kDiskFull:
      own.disk->full = true;
      if (host == 0) journal_disk().full = true;
      When(fault.lasts, [this, host] {
        machine(host).disk->full = false;
        if (host == 0) journal_disk().full = false;
      });
      return;
    case FaultKind::kDiskFails:
      own.disk->fails_next = host != 0;
      if (host == 0) journal_disk().fails_next = true;
      return;
    case FaultKind::kBitRot:
      return Rot(host);
    case FaultKind::kClockRate:
      own.clock.SetRate(timeline.now(), fault.amount);
      if (process != nullptr) process->ClockChanged();
      When(fault.lasts, [this, host] {
        machine(host).clock.SetRate(timeline.now(), 1.0);
        if (ProcessOf(host) != nullptr) ProcessOf(host)->ClockChanged();
      });
      return;
    case FaultKind::kClockLeap:
      own.clock.Leap(timeline.now(), absl::Seconds(fault.amount));
      if (process != nullptr) process->ClockChanged();
      return;
    default:
      return;
  }
}

void FaultyWorld::StrikeAt(const coordinator::Entry& entry) {
  for (const Moment moment : moments_.Of(entry)) {
    std::erase_if(strikes_, [this, moment](const Fault& fault) {
      if (fault.other != static_cast<uint32_t>(moment)) return false;
      timeline.After(absl::Seconds(fault.amount), [this, fault] {
        if (timeline.now() >= Instant(schedule.calm_at)) return;
        history.Add(timeline.now(), "strike ", fault.host);
        Kill(fault.host, WorkerDisk::End::kKilled, EndOf(fault.lasts));
      });
      return true;
    });
  }
}

// Damages a file on `host`. Unless jobs are saved, the file is one that another
// disk also has, because the job could not go on without the only copy.
void FaultyWorld::Rot(HostId host) {
  WorkerDisk& disk = *machine(host).disk;
  std::vector<std::string> spare;
  for (const std::string& path : disk.Paths()) {
    if (HasCheckpoints(schedule)) {
      spare.push_back(path);
      continue;
    }
    for (HostId other = 1; other < hosts(); ++other) {
      // A spare host goes for good.
      if (other == host || IsSpare(other)) continue;
      const FileBytes copy = machine(other).disk->Find(path);
      if (copy == nullptr || *copy != *disk.Find(path)) continue;
      spare.push_back(path);
      break;
    }
  }
  if (!spare.empty()) disk.Rot(spare[random.Below(spare.size())]);
}

void FaultyWorld::Calm() {
  history.Add(timeline.now(), "calm");
  strikes_.clear();
  network.set_faults({});
  for (HostId host = 0; host < hosts(); ++host) {
    if (!IsSpare(host)) Start(host);
  }
  Release();
}

}  // namespace skerry::sim
