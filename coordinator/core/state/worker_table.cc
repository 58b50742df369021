#include "coordinator/core/state/worker_table.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/status.h"

namespace skerry::coordinator {
namespace {

using protocol::StoredJob;

// A worker speaks at least every 0.3 lease, so silence says little before this
// share of a lease, and by the upper one it is suspect whatever was learned.
constexpr double kSuspectLow = 0.45;
constexpr double kSuspectHigh = 0.9;

}  // namespace

WorkerTable::WorkerTable(const ClusterOptions& options) : options_(options) {}

absl::Status WorkerTable::Apply(Incarnation index,
                                const WorkerAdmitted& record) {
  if (!workers_.contains(record.self.worker) &&
      workers_.size() >= options_.workers_max) {
    ForgetOneLost();
  }
  Worker& worker = workers_[record.self.worker];
  if (worker.incarnation.is_set() && !worker.left) {
    Unschedule(record.self.worker, worker);
    Retire(worker);
    ForgetHost(worker);
  }
  worker.self = record.self;
  worker.island = record.island;
  worker.release = record.release;
  worker.folder = record.folder;
  worker.process = record.process;
  worker.boot = record.boot;
  worker.incarnation = index;
  worker.left = false;
  worker.counter = 0;
  worker.draining = false;
  worker.drain_reason.clear();
  worker.stream_lost = false;
  worker.suspected = false;
  worker.gaps = LearnedDuration(32, 8);
  ForgetReach(worker);
  IndexReach(worker);
  Schedule(record.self.worker, worker);
  return absl::OkStatus();
}

absl::Status WorkerTable::Apply(const WorkerLeft& record) {
  const auto it = workers_.find(record.worker);
  if (it == workers_.end() || it->second.left ||
      it->second.incarnation != record.incarnation) {
    return absl::DataLossError(absl::StrCat(
        "worker ", record.worker, " leaves as incarnation ",
        record.incarnation.value(), ", which is not its current one"));
  }
  Unschedule(it->first, it->second);
  Retire(it->second);
  ForgetHost(it->second);
  it->second.left = true;
  ForgetReach(it->second);
  IndexReach(it->second);
  return absl::OkStatus();
}

absl::Status WorkerTable::Apply(const WorkerMarked& record) {
  const auto it = workers_.find(record.worker);
  if (it == workers_.end() || it->second.intent == record.intent) {
    return absl::DataLossError(
        absl::StrCat("worker ", record.worker,
                     " is marked although it is not known or is so already"));
  }
  it->second.intent = record.intent;
  return absl::OkStatus();
}

std::vector<WorkerSnapshot> WorkerTable::Save() const {
  std::vector<WorkerSnapshot> saved;
  saved.reserve(workers_.size());
  for (const auto& [name, worker] : workers_) {
    saved.push_back({worker.self,
                     worker.island,
                     worker.release,
                     worker.boot,
                     worker.incarnation,
                     worker.left,
                     {worker.former.begin(), worker.former.end()},
                     worker.intent,
                     worker.folder,
                     worker.process});
  }
  return saved;
}

absl::Status WorkerTable::Restore(const std::vector<WorkerSnapshot>& saved) {
  for (const WorkerSnapshot& one : saved) {
    const auto [it, fresh] = workers_.try_emplace(one.self.worker);
    if (!fresh) {
      return absl::DataLossError(
          absl::StrCat("worker ", one.self.worker, " is there twice"));
    }
    Worker& worker = it->second;
    worker.self = one.self;
    worker.island = one.island;
    worker.release = one.release;
    worker.boot = one.boot;
    worker.incarnation = one.incarnation;
    worker.left = one.left;
    worker.intent = one.intent;
    worker.folder = one.folder;
    worker.process = one.process;
    worker.former.assign(one.former.begin(), one.former.end());
    IndexReach(worker);
    if (!worker.left) Schedule(it->first, worker);
  }
  return absl::OkStatus();
}

void WorkerTable::GiveLeases(Instant now) {
  due_.clear();
  for (auto& [name, worker] : workers_) {
    if (worker.left) continue;
    worker.last_heard = now;
    Schedule(name, worker);
  }
}

absl::StatusOr<WorkerTable::Verdict> WorkerTable::Judge(
    const StatusFacts& status, Instant now) const {
  const auto it = workers_.find(status.self.worker);
  if (it == workers_.end()) {
    if (status.incarnation.is_set()) {
      return absl::AbortedError(absl::StrCat(
          "worker ", status.self.worker, " is unknown as incarnation ",
          status.incarnation.value(), "; start with a new boot"));
    }
    const bool full =
        workers_.size() >= options_.workers_max &&
        std::none_of(workers_.begin(), workers_.end(),
                     [](const auto& entry) { return entry.second.left; });
    if (full) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "all ", options_.workers_max, " places of workers are taken"));
    }
    return Verdict::kRegister;
  }
  const Worker& worker = it->second;
  if (std::find(worker.former.begin(), worker.former.end(), status.boot) !=
      worker.former.end()) {
    return absl::AbortedError(absl::StrCat(
        "this boot of worker ", status.self.worker,
        " was replaced or silent for a lease; start with a new boot"));
  }
  if (worker.left || worker.boot != status.boot) {
    if (!status.incarnation.is_set()) {
      SKERRY_RETURN_IF_ERROR(CheckTakeover(worker, status, now));
      return Verdict::kRegister;
    }
    return absl::AbortedError(absl::StrCat(
        "incarnation ", status.incarnation.value(), " of worker ",
        status.self.worker, " is not current; start with a new boot"));
  }
  if (status.incarnation.is_set() && status.incarnation != worker.incarnation) {
    return absl::AbortedError(
        absl::StrCat("worker ", status.self.worker, " runs as incarnation ",
                     worker.incarnation.value(), ", not ",
                     status.incarnation.value(), "; start with a new boot"));
  }
  if (status.island != worker.island) {
    return absl::InvalidArgumentError(absl::StrCat(
        "island: worker ", status.self.worker, " is in ", worker.island,
        "; a process cannot move, start a new one"));
  }
  return status.counter < worker.counter ? Verdict::kRepetition
                                         : Verdict::kCurrent;
}

absl::Status WorkerTable::CheckTakeover(const Worker& worker,
                                        const StatusFacts& status,
                                        Instant now) const {
  const bool same_process =
      status.process.is_set() && status.process == worker.process;
  if (worker.left || same_process) return absl::OkStatus();
  const bool folders_known = status.folder.is_set() && worker.folder.is_set();
  const bool same_folder = folders_known && status.folder == worker.folder;
  // Its place was taken by a process that was started later, so it is no
  // restart of that one: the folder was copied.
  const bool elder = std::find(worker.former.begin(), worker.former.end(),
                               status.process) != worker.former.end();
  if (same_folder && !elder) return absl::OkStatus();
  const std::string holder =
      absl::StrCat("worker ", worker.self.worker, " is another process, at ",
                   worker.self.address);
  const char* const folder = same_folder ? ", on a copy of this state folder"
                             : folders_known ? ", with another state folder"
                                             : "";
  // Nothing was heard of it since the coordinator started, or its stream broke.
  const bool connected = worker.counter > 0 && !worker.stream_lost;
  if (connected) {
    return absl::AlreadyExistsError(absl::StrCat(
        holder, folder, "; stop that one, or give this one another --name"));
  }
  // Workers of older releases cannot be told apart: whoever asks is the newest.
  if (!folders_known) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      holder, folder,
      "; it does not answer, and this one takes the name when "
      "its lease ends, in ",
      absl::FormatDuration(absl::Ceil(worker.last_heard + options_.lease - now,
                                      absl::Seconds(1)))));
}

void WorkerTable::Refused(const StatusFacts& status, const absl::Status& why,
                          Instant now) {
  if (!absl::IsAlreadyExists(why)) return;
  const auto it = workers_.find(status.self.worker);
  if (it == workers_.end()) return;
  it->second.contender = Worker::Contender{status.self.address, now};
}

bool WorkerTable::Heard(const StatusFacts& status, Instant now) {
  const auto it = workers_.find(status.self.worker);
  SKERRY_CHECK(it != workers_.end() && !it->second.left);
  Worker& worker = it->second;
  Unschedule(it->first, worker);
  if (worker.counter > 0 && !worker.stream_lost) {
    worker.gaps.Observe(now - worker.last_heard);
  }
  worker.last_heard = now;
  worker.counter = std::max<uint64_t>(status.counter, 1);
  worker.draining = worker.draining || status.draining;
  worker.drain_reason = status.drain_reason;
  worker.stream_lost = false;
  worker.suspected = false;
  worker.machine = status.machine;
  ForgetHost(worker);
  if (!worker.machine.host.empty()) {
    on_hosts_[worker.island][worker.incarnation] = it->first;
  }
  worker.data = status.data;
  worker.looks_at_data = status.looks_at_data;
  worker.programs = status.programs;
  worker.revoked_version = status.revoked_version;
  worker.takes_streams = status.takes_streams;
  worker.takes_relays = status.takes_relays;
  worker.fetches_data = status.fetches_data;
  worker.unreached = status.unreached;
  worker.stored = status.stored;
  std::sort(
      worker.stored.all.begin(), worker.stored.all.end(),
      [](const StoredJob& a, const StoredJob& b) { return a.key < b.key; });
  absl::btree_set<StoredJobKey> there;
  for (const StoredJob& one : worker.stored.all) there.insert(one.key);
  absl::erase_if(worker.unwanted, [&there](const StoredJobKey& key) {
    return !there.contains(key);
  });
  Schedule(it->first, worker);
  return HeardTries(it->first, status, now);
}

void WorkerTable::RemoveStored(std::string_view name, const StoredJobKey& key) {
  const auto it = workers_.find(name);
  SKERRY_CHECK(it != workers_.end() && !it->second.left);
  it->second.unwanted.insert(key);
}

bool WorkerTable::LoseStream(std::string_view name, Boot boot, Instant now) {
  const auto it = workers_.find(name);
  if (it == workers_.end() || it->second.left || it->second.boot != boot) {
    return false;
  }
  Unschedule(it->first, it->second);
  it->second.stream_lost = true;
  it->second.suspected = true;
  Schedule(it->first, it->second);
  return true;
}

std::vector<std::string> WorkerTable::SuspectDue(Instant now) {
  std::vector<std::string> found;
  for (const auto& [due, name] : due_) {
    if (due > now) break;
    if (!workers_.at(name).suspected) found.push_back(name);
  }
  for (const std::string& name : found) {
    Worker& worker = workers_.at(name);
    Unschedule(name, worker);
    worker.suspected = true;
    Schedule(name, worker);
  }
  return found;
}

std::vector<std::string> WorkerTable::Expired(Instant now) const {
  std::vector<std::string> found;
  for (const auto& [due, name] : due_) {
    if (due > now) break;
    if (workers_.at(name).last_heard + options_.lease <= now) {
      found.push_back(name);
    }
  }
  return found;
}

const Worker* WorkerTable::FirstOnHost(std::string_view island) const {
  const auto it = on_hosts_.find(std::string(island));
  if (it == on_hosts_.end()) return nullptr;
  return &workers_.at(it->second.begin()->second);
}

const Worker* WorkerTable::FindCurrent(std::string_view name) const {
  const auto it = workers_.find(name);
  return it == workers_.end() || it->second.left ? nullptr : &it->second;
}

absl::StatusOr<const Worker*> WorkerTable::Find(std::string_view name) const {
  const auto it = workers_.find(name);
  if (it != workers_.end()) return &it->second;
  return absl::NotFoundError(absl::StrCat(
      "no worker named ", absl::string_view(name.data(), name.size())));
}

bool WorkerTable::IsCurrent(std::string_view name,
                            Incarnation incarnation) const {
  const Worker* worker = FindCurrent(name);
  return worker != nullptr && worker->incarnation == incarnation;
}

void WorkerTable::AddRelayed(absl::btree_set<std::string>& names) const {
  names.insert(relays_.begin(), relays_.end());
  names.insert(hidden_.begin(), hidden_.end());
}

std::optional<Instant> WorkerTable::NextDeadline() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

void WorkerTable::HashInto(StateHasher& hasher) const {
  hasher.Add(uint64_t{workers_.size()});
  for (const auto& [name, worker] : workers_) {
    hasher.Add(std::string_view(name));
    hasher.Add(std::string_view(worker.self.address));
    hasher.Add(std::string_view(worker.self.island_address));
    for (const std::string& more : worker.self.more_addresses) {
      hasher.Add(std::string_view("more"));
      hasher.Add(std::string_view(more));
    }
    if (worker.self.outbound_only) {
      hasher.Add(std::string_view("outbound only"));
    }
    if (worker.self.relay) hasher.Add(std::string_view("relay"));
    hasher.Add(std::string_view(worker.island));
    hasher.Add(std::string_view(worker.release));
    hasher.Add(worker.boot);
    hasher.Add(worker.incarnation);
    hasher.Add(uint64_t{worker.left});
    // Likewise of releases whose state folders had no number.
    if (worker.folder.is_set() || worker.process.is_set()) {
      hasher.Add(std::string_view("folder"));
      hasher.Add(worker.folder);
      hasher.Add(worker.process);
    }
    hasher.Add(uint64_t{worker.former.size()});
    for (const Boot boot : worker.former) hasher.Add(boot);
    // Nothing otherwise, as in journals of releases that knew no intents.
    if (worker.intent != WorkerIntent::kServe) {
      hasher.Add(std::string_view("intent"));
      hasher.Add(static_cast<uint64_t>(worker.intent));
    }
  }
}

absl::Duration WorkerTable::SuspectAfter(const Worker& worker) const {
  const absl::Duration low = kSuspectLow * options_.lease;
  const auto widest = worker.gaps.Quantile(1.0);
  if (!widest.has_value()) return kSuspectHigh * options_.lease;
  return ClampDuration(1.5 * *widest, low, kSuspectHigh * options_.lease);
}

Instant WorkerTable::DueOf(const Worker& worker) const {
  return worker.last_heard +
         (worker.suspected ? options_.lease : SuspectAfter(worker));
}

void WorkerTable::Schedule(const std::string& name, Worker& worker) {
  worker.due = DueOf(worker);
  due_.emplace(worker.due, name);
}

void WorkerTable::Unschedule(const std::string& name, const Worker& worker) {
  due_.erase({worker.due, name});
}

void WorkerTable::Retire(Worker& worker) {
  worker.former.push_back(worker.boot);
  if (worker.former.size() > options_.boots_max) worker.former.pop_front();
}

void WorkerTable::IndexReach(const Worker& worker) {
  const auto index = [&worker](bool belongs,
                               absl::btree_set<std::string>& names) {
    if (belongs && !worker.left) {
      names.insert(worker.self.worker);
    } else {
      names.erase(worker.self.worker);
    }
  };
  index(worker.self.relay && !worker.IsHidden(), relays_);
  index(worker.IsHidden(), hidden_);
  if (worker.left) {
    ring_.erase(RingPlace(worker.self.worker));
  } else {
    ring_.insert(RingPlace(worker.self.worker));
  }
}

WorkerTable::Ring::value_type WorkerTable::RingPlace(
    const std::string& worker) {
  return {Hash64(std::as_bytes(std::span(worker))), worker};
}

bool WorkerTable::HeardTries(const std::string& finder,
                             const StatusFacts& status, Instant now) {
  std::vector<protocol::Tried> found;
  for (const protocol::Tried& tried : status.tried) {
    const Worker* const other = FindCurrent(tried.worker);
    if (other != nullptr && other->island != status.island &&
        other->incarnation == tried.incarnation) {
      found.push_back(tried);
    }
  }
  const ReachTable::Names changed = reach_.Heard(finder, found, now);
  for (const std::string& name : changed) {
    Worker& worker = workers_.at(name);
    worker.found_hidden = reach_.IsHidden(name);
    IndexReach(worker);
  }
  return !changed.empty();
}

void WorkerTable::ForgetReach(Worker& worker) {
  reach_.Forget(worker.self.worker);
  worker.found_hidden = false;
}

void WorkerTable::ForgetHost(const Worker& worker) {
  const auto it = on_hosts_.find(worker.island);
  if (it == on_hosts_.end()) return;
  it->second.erase(worker.incarnation);
  if (it->second.empty()) on_hosts_.erase(it);
}

void WorkerTable::ForgetOneLost() {
  auto oldest = workers_.end();
  for (auto it = workers_.begin(); it != workers_.end(); ++it) {
    if (!it->second.left) continue;
    if (oldest == workers_.end() ||
        it->second.incarnation < oldest->second.incarnation) {
      oldest = it;
    }
  }
  if (oldest != workers_.end()) workers_.erase(oldest);
}

}  // namespace skerry::coordinator
