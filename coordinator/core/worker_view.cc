#include "coordinator/core/worker_view.h"

#include <utility>

#include "absl/container/btree_map.h"
#include "coordinator/core/holdings.h"
#include "coordinator/core/job_orders.h"
#include "coordinator/core/membership.h"
#include "coordinator/core/placing.h"
#include "coordinator/core/stored_jobs.h"
#include "coordinator/core/worker_directory.h"

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

Orders WorkerOrders(const JobTable& jobs, const WorkerTable& workers,
                    const Worker& worker, const ClusterOptions& options,
                    Instant now) {
  Orders orders;
  orders.boot = worker.boot;
  orders.incarnation = worker.incarnation;
  orders.lease = options.lease;
  orders.released = worker.draining && !IsNeeded(jobs, workers, worker);
  orders.drain = worker.intent == WorkerIntent::kDrain;
  for (const auto& [id, job] : jobs.all()) {
    auto order = JobOrdersFor(job, workers, options, worker.self.worker, now);
    if (order.has_value()) orders.jobs.push_back(*std::move(order));
  }
  orders.directory = DirectoryFor(orders, workers, worker.island);
  return orders;
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
  if (worker.contender.has_value()) {
    view.contender = WorkerView::Contender{worker.contender->address,
                                           now - worker.contender->at};
  }
  for (const auto& [id, job] : jobs.all()) {
    if (job.Ended() || worker.left) continue;
    const Seat* seat = job.SeatOf(name, worker.incarnation);
    if (seat != nullptr && !seat->unfit.empty()) {
      view.unserved.push_back({job.spec.name, seat->unfit});
    }
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
