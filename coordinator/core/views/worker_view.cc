#include "coordinator/core/views/worker_view.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/str_join.h"
#include "coordinator/core/rules/holdings.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/rules/placing.h"
#include "coordinator/core/rules/relayed_pairs.h"
#include "coordinator/core/views/stored_jobs.h"

namespace skerry::coordinator {
namespace {

const char* StateOf(const JobTable& jobs, const WorkerTable& workers,
                    const Worker& worker) {
  if (worker.left) return "lost";
  if (worker.suspected) return "suspected";
  if (worker.Leaves()) {
    return IsNeeded(jobs, workers, worker) ? "draining" : "drained";
  }
  return worker.intent == WorkerIntent::kCordon ? "cordoned" : "connected";
}

std::string ReachedText(
    const Worker& worker,
    const absl::btree_map<std::string, std::string>& relayed) {
  if (!worker.IsHidden()) return "dialled";
  if (relayed.empty()) return "reverse";
  absl::btree_set<std::string> relays;
  for (const auto& [peer, relay] : relayed) relays.insert(relay);
  return protocol::ViaRelay(absl::StrJoin(relays, ", "));
}

std::vector<std::string> UnreachedBy(const WorkerTable& workers,
                                     const Worker& worker) {
  std::vector<std::string> names;
  if (worker.left) return names;
  for (const auto& [name, other] : workers.all()) {
    const auto& missed = other.unreached;
    if (!other.left && std::find(missed.begin(), missed.end(),
                                 worker.self.worker) != missed.end()) {
      names.push_back(name);
    }
  }
  return names;
}

}  // namespace

bool IsNeeded(const JobTable& jobs, const WorkerTable& workers,
              const Worker& worker) {
  const std::string& name = worker.self.worker;
  for (const auto& [id, job] : jobs.all()) {
    if (job.Ended()) continue;
    if (CurrentReplicaOf(job, name, worker.incarnation) != nullptr) return true;
    const bool known = job.SeatOf(name, worker.incarnation) != nullptr ||
                       PlaceOf(job, worker.island, name) != nullptr ||
                       MayHoldLost(job, workers, worker);
    if (known && !IsCoveredWithout(job, workers, name)) return true;
  }
  return false;
}

std::vector<LinkView> LinksOf(const JobTable& jobs, const WorkerTable& workers,
                              const Worker& worker) {
  absl::btree_map<std::string, LinkView> found;
  for (const auto& [id, job] : jobs.all()) {
    const Seat* seat = job.SeatOf(worker.self.worker, worker.incarnation);
    if (seat == nullptr) continue;
    for (const protocol::PeerLink& link : seat->facts.links) {
      if (workers.FindCurrent(link.worker) == nullptr) continue;
      found[link.worker] = {link.worker, link.bytes_per_s, link.round_trip_s};
    }
  }
  std::vector<LinkView> links;
  for (auto& [peer, link] : found) links.push_back(std::move(link));
  return links;
}

WorkerView ViewOfWorker(const JobTable& jobs, const WorkerTable& workers,
                        const Worker& worker, const ClusterOptions& options,
                        Instant now) {
  const std::string& name = worker.self.worker;
  WorkerView view{name,
                  worker.island,
                  worker.self.address,
                  worker.incarnation,
                  StateOf(jobs, workers, worker),
                  now - worker.last_heard,
                  {},
                  worker.release,
                  worker.intent,
                  options.lease,
                  worker.machine,
                  LinksOf(jobs, workers, worker)};
  view.stored_jobs = StoredJobsOf(jobs, worker);
  if (!worker.left) view.drain_reason = worker.drain_reason;
  view.apart = WhyApart(workers, worker);
  view.relayed = RelaysOf(jobs, workers, worker);
  view.reached = ReachedText(worker, view.relayed);
  view.relay = worker.self.relay;
  view.relayed_pairs = PairsOfRelay(jobs, workers, worker).size();
  view.unreached_by = UnreachedBy(workers, worker);
  view.more_addresses = worker.self.more_addresses;
  view.found_hidden = worker.found_hidden;
  for (const auto& [finder, finding] : workers.reach().Of(name)) {
    if (const Worker* by = workers.FindCurrent(finder)) {
      view.tried_by.push_back({finder, by->island, finding.tried.round_trip_ms,
                               finding.tried.error});
    }
  }
  if (!worker.left) view.programs = worker.programs;
  if (worker.contender.has_value()) {
    view.contender = WorkerView::Contender{worker.contender->address,
                                           now - worker.contender->at};
  }
  for (const auto& [id, job] : jobs.all()) {
    if (job.Ended() || worker.left) continue;
    const Seat* seat = job.SeatOf(name, worker.incarnation);
    const std::string why = seat != nullptr && !seat->unfit.empty()
                                ? seat->unfit
                                : WhyLeftOut(job, workers, worker);
    if (!why.empty()) view.unserved.push_back({job.spec.name, why});
    if (CurrentReplicaOf(job, name, worker.incarnation) != nullptr ||
        PlaceOf(job, worker.island, name) != nullptr) {
      view.jobs.push_back(job.spec.name);
    }
  }
  return view;
}

std::vector<WorkerView> ViewAllWorkers(const JobTable& jobs,
                                       const WorkerTable& workers,
                                       const ClusterOptions& options,
                                       Instant now) {
  std::vector<WorkerView> views;
  for (const auto& [name, worker] : workers.all()) {
    views.push_back(ViewOfWorker(jobs, workers, worker, options, now));
  }
  return views;
}

}  // namespace skerry::coordinator
