#include "simulator/world.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "coordinator/service/journal_codec.h"
#include "simulator/coordinator_node.h"
#include "simulator/seat_node.h"
#include "simulator/worker_node.h"

namespace skerry::sim {
namespace {

// A supervisor starts a process that has ended by itself.
constexpr absl::Duration kSupervisor = absl::Milliseconds(300);
// An operator asks again when nothing was heard.
constexpr absl::Duration kAskAgain = absl::Milliseconds(200);

bool IsMilestone(const coordinator::Entry& entry) {
  return std::holds_alternative<coordinator::JobSubmitted>(entry.record) ||
         std::holds_alternative<coordinator::JobEnded>(entry.record) ||
         std::holds_alternative<coordinator::JobPaused>(entry.record) ||
         std::holds_alternative<coordinator::WorkerMarked>(entry.record);
}

}  // namespace

World::World(const Setting& given, Observer& watcher, size_t history_lines)
    : random(Mix64(given.seed ^ 0x5eed)),
      network(timeline, random,
              static_cast<uint32_t>(given.workers.size() + 1)),
      history(history_lines),
      observer(watcher),
      setting(given),
      machines_(given.workers.size() + 1),
      workers_(given.workers.size() + 1) {
  for (Machine& machine : machines_) {
    machine.disk = std::make_unique<WorkerDisk>(timeline, random);
  }
}

World::~World() { EndPrograms(); }

void World::EndPrograms() {
  for (auto& worker : workers_) worker.reset();
  coordinator_.reset();
}

void World::RunUntil(Instant until) {
  while (!AllJobsEnded() && timeline.next() <= until) timeline.RunNext();
}

bool World::AllJobsEnded() const {
  if (ended_.size() < setting.elements.size()) return false;
  return std::all_of(ended_.begin(), ended_.end(),
                     [](const auto& job) { return job.second; });
}

bool World::AllWorkersRun() const {
  for (HostId host = 1; host < machines_.size(); ++host) {
    if (!IsSpare(host) && workers_[host] == nullptr) return false;
  }
  return true;
}

bool World::AllWorkersWell() const {
  for (HostId host = 1; host < machines_.size(); ++host) {
    if (IsSpare(host)) continue;
    if (workers_[host] == nullptr) return false;
    bool well = true;
    workers_[host]->EachSeat([&](SeatNode& node) {
      const protocol::JobFacts facts = node.job().Facts();
      well &= facts.state == protocol::SeatState::kActive ||
              facts.state == protocol::SeatState::kResting;
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
        const protocol::JobFacts facts = node.job().Facts();
        absl::StrAppend(&text, " job ", facts.job.value(), " state ",
                        static_cast<int>(facts.state), " life ",
                        facts.life.value(), " ", facts.error);
        for (const protocol::FragmentFacts& one : facts.fragments) {
          absl::StrAppend(&text, " applied ", one.applied.value(), " stored ",
                          one.stored_through.value());
        }
      });
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

WorkerNode* World::NodeAt(const Endpoint& endpoint) const {
  WorkerNode* node = worker_node(endpoint.host);
  return node != nullptr && node->run() == endpoint.run ? node : nullptr;
}

void World::OnDurable(const std::vector<coordinator::JournalEntry>& entries) {
  for (const coordinator::JournalEntry& durable : entries) {
    const auto entry = coordinator::EntryFromJournal(durable);
    SKERRY_CHECK(entry.ok());
    history.Add(timeline.now(), "record ", durable.index.value(), " ",
                durable.payload);
    NoteJobs(*entry);
    if (IsMilestone(*entry)) milestones_.push_back(*entry);
    if (std::holds_alternative<coordinator::Committed>(entry->record)) {
      ++committed_;
    }
    OnRecord(*entry);
    observer.OnDurable(*entry);
  }
}

void World::NoteJobs(const coordinator::Entry& entry) {
  if (const auto* job = std::get_if<coordinator::JobSubmitted>(&entry.record)) {
    ended_[JobId(entry.index.value())] = false;
    submitted_.insert(job->idempotency_key);
  } else if (const auto* end =
                 std::get_if<coordinator::JobEnded>(&entry.record)) {
    ended_[end->job] = true;
  }
}

void World::ReplaceJournal(const JournalDisk& earlier, Instant again) {
  Kill(0, WorkerDisk::End::kKilled, again);
  // The disk stays what it is, and so does the term, by which simulated writers
  // tell each other apart.
  journal_disk_.snapshot = earlier.snapshot;
  journal_disk_.entries = earlier.entries;
  Revision last;
  if (earlier.snapshot.has_value()) last = earlier.snapshot->index;
  if (!earlier.entries.empty()) last = earlier.entries.back().index;
  std::erase_if(milestones_, [last](const coordinator::Entry& entry) {
    return entry.index > last;
  });
  ended_.clear();
  submitted_.clear();
  for (const coordinator::Entry& entry : milestones_) NoteJobs(entry);
  history.Add(timeline.now(), "journal of ", last.value());
  OnJournalReplaced(last, milestones_);
  observer.OnJournalReplaced(last);
}

void World::StopForGood(HostId host) {
  ++machines_[host].plan;
  if (ProcessOf(host) != nullptr) Stop(host, WorkerDisk::End::kKilled);
}

std::string World::NameOf(HostId host) const {
  const std::string& name = shape(host).name;
  return name.empty() || machines_[host].own_name ? PlainNameOf(host) : name;
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

void World::Kill(HostId host, WorkerDisk::End end, Instant again) {
  Stop(host, end);
  const uint64_t plan = ++machines_[host].plan;
  timeline.At(again, [this, host, plan] {
    if (machines_[host].plan == plan) Start(host);
  });
}

void World::Submit(const job::JobSpec& spec, const std::string& key) {
  if (submitted_.contains(key)) return;
  if (coordinator_ != nullptr) {
    coordinator_->shell().Do(
        [spec, key](coordinator::Cluster& cluster,
                    Instant now) -> coordinator::ClusterShell::Settled {
          cluster.Submit(spec, key, now).status().IgnoreError();
          return [](const coordinator::Cluster&, Instant) {};
        });
  }
  timeline.After(kAskAgain, [this, spec, key] { Submit(spec, key); });
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
