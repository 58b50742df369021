#include "tests/sim/world.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "coordinator/service/journal_codec.h"
#include "tests/sim/coordinator_node.h"
#include "tests/sim/seat_node.h"
#include "tests/sim/worker_node.h"

namespace skerry::sim {
namespace {

// A supervisor starts a process that has ended by itself.
constexpr absl::Duration kSupervisor = absl::Milliseconds(300);
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
  return options;
}

}  // namespace

World::World(const Schedule& given, Observer& watcher, size_t history_lines)
    : random(Mix64(given.seed ^ 0x5eed)),
      network(timeline, random,
              static_cast<uint32_t>(given.workers.size() + 1)),
      history(history_lines),
      observer(watcher),
      schedule(given),
      options(OptionsOf(given)),
      machines_(given.workers.size() + 1),
      workers_(given.workers.size() + 1) {
  const auto hosts = static_cast<HostId>(machines_.size());
  for (HostId from = 0; from < hosts; ++from) {
    machines_[from].disk = std::make_unique<WorkerDisk>(timeline, random);
    for (HostId to = 0; to < hosts; ++to) {
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
  network.set_faults(schedule.links);
  for (HostId host = 0; host < hosts; ++host) {
    timeline.After(absl::Milliseconds(1 + random.Below(50)),
                   [this, host] { Start(host); });
  }
  for (uint32_t job = 0; job < schedule.jobs.size(); ++job) {
    timeline.After(schedule.jobs[job].submitted_at,
                   [this, job] { Submit(job); });
  }
  for (const Fault& fault : schedule.faults) {
    timeline.After(fault.at, [this, fault] { Apply(fault); });
  }
  timeline.After(schedule.calm_at, [this] { Calm(); });
}

World::~World() {
  for (auto& worker : workers_) worker.reset();
  coordinator_.reset();
}

void World::RunUntil(Instant until) {
  while (!AllJobsEnded() && timeline.next() <= until) timeline.RunNext();
}

bool World::AllJobsEnded() const {
  if (ended_.size() < schedule.jobs.size()) return false;
  return std::all_of(ended_.begin(), ended_.end(),
                     [](const auto& job) { return job.second; });
}

bool World::AllWorkersWell() const {
  for (HostId host = 1; host < machines_.size(); ++host) {
    if (workers_[host] == nullptr) return false;
    bool well = true;
    workers_[host]->EachSeat([&](SeatNode& node) {
      const worker::JobFacts facts = node.seat().Facts();
      well &= facts.state == worker::SeatState::kActive ||
              facts.state == worker::SeatState::kResting;
    });
    if (!well) return false;
  }
  return true;
}

std::string World::WorkersText() const {
  std::string text;
  for (HostId host = 1; host < machines_.size(); ++host) {
    absl::StrAppend(&text, "worker ", host, ":");
    if (workers_[host] == nullptr) absl::StrAppend(&text, " down");
    if (workers_[host] != nullptr) {
      workers_[host]->EachSeat([&text](SeatNode& node) {
        const worker::JobFacts facts = node.seat().Facts();
        absl::StrAppend(&text, " job ", facts.job.value(), " state ",
                        static_cast<int>(facts.state), " life ",
                        facts.life.value(), " ", facts.error);
        for (const worker::FragmentFacts& one : facts.fragments) {
          absl::StrAppend(&text, " applied ", one.applied.value(), " stored ",
                          one.stored_through.value());
        }
      });
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

HostId World::HostOf(const std::string& address) const {
  HostId host = 0;
  SKERRY_CHECK(address.size() > 1 &&
               absl::SimpleAtoi(address.substr(1), &host));
  return host;
}

void World::OnDurable(const std::vector<coordinator::JournalEntry>& entries) {
  for (const coordinator::JournalEntry& durable : entries) {
    const auto entry = coordinator::EntryFromJournal(durable);
    SKERRY_CHECK(entry.ok());
    history.Add(timeline.now(), "record ", durable.index.value(), " ",
                durable.payload);
    if (const auto* job =
            std::get_if<coordinator::JobSubmitted>(&entry->record)) {
      ended_[JobId(durable.index.value())] = false;
      submitted_.insert(job->idempotency_key);
      job_names_[JobId(durable.index.value())] = job->spec.name;
    } else if (const auto* end =
                   std::get_if<coordinator::JobEnded>(&entry->record)) {
      ended_[end->job] = true;
      paused_.erase(end->job);
    } else if (const auto* held =
                   std::get_if<coordinator::JobPaused>(&entry->record)) {
      paused_.erase(held->job);
      if (held->paused) paused_.insert(held->job);
    } else if (const auto* mark =
                   std::get_if<coordinator::WorkerMarked>(&entry->record)) {
      marked_.erase(mark->worker);
      if (mark->intent != coordinator::WorkerIntent::kServe) {
        marked_.insert(mark->worker);
      }
    } else if (std::holds_alternative<coordinator::Committed>(entry->record)) {
      ++committed_;
    }
    StrikeAt(*entry);
    observer.OnDurable(*entry);
  }
}

Process* World::ProcessOf(HostId host) const {
  if (host == 0) {
    return coordinator_ == nullptr ? nullptr : &coordinator_->process();
  }
  return workers_[host] == nullptr ? nullptr : &workers_[host]->process();
}

void World::Start(HostId host) {
  Machine& machine = machines_[host];
  ++machine.plan;
  if (ProcessOf(host) != nullptr) return;
  history.Add(timeline.now(), "start ", host);
  ++machine.run;
  if (host == 0) {
    coordinator_ = std::make_unique<CoordinatorNode>(*this);
  } else {
    workers_[host] = std::make_unique<WorkerNode>(*this, host, machine.run);
  }
}

void World::Stop(HostId host, WorkerDisk::End end) {
  history.Add(timeline.now(), "stop ", host);
  if (host == 0) {
    coordinator_.reset();
  } else {
    workers_[host].reset();
    machines_[host].disk->OnProcessEnd(end);
  }
  network.OnProcessEnd(host);
}

void World::Kill(HostId host, WorkerDisk::End end, absl::Duration lasts) {
  Stop(host, end);
  const uint64_t plan = ++machines_[host].plan;
  When(lasts, [this, host, plan] {
    if (machines_[host].plan == plan) Start(host);
  });
}

void World::Exit(HostId host, const std::string& why) {
  history.Add(timeline.now(), "exit ", host, " ", why);
  timeline.After(absl::ZeroDuration(), [this, host, run = machines_[host].run] {
    if (ProcessOf(host) == nullptr || machines_[host].run != run) return;
    Stop(host, WorkerDisk::End::kKilled);
    const uint64_t plan = ++machines_[host].plan;
    timeline.After(kSupervisor, [this, host, plan] {
      if (machines_[host].plan == plan) Start(host);
    });
  });
}

}  // namespace skerry::sim
