#include "coordinator/core/views/orders_writer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "coordinator/core/rules/relayed_pairs.h"
#include "coordinator/core/rules/tries.h"
#include "coordinator/core/rules/worker_directory.h"
#include "coordinator/core/views/worker_view.h"

namespace skerry::coordinator {
namespace {

// Those workers of the jobs that the orders name for which, or for `reader`,
// streams go in reverse. Both ends have to know before there are frames.
std::vector<std::string> ReversePeers(const Orders& orders,
                                      const JobTable& jobs,
                                      const WorkerTable& workers,
                                      const Worker& reader) {
  std::vector<const JobState*> served;
  for (const protocol::JobOrders& order : orders.jobs) {
    if (const auto job = jobs.Find(order.job); job.ok()) served.push_back(*job);
  }
  std::vector<std::string> names;
  const auto consider = [&](const std::string& name, const Worker& peer) {
    if (peer.left || peer.island == reader.island) return;
    const auto has_seat = [&name, &peer](const JobState* job) {
      return job->SeatOf(name, peer.incarnation) != nullptr;
    };
    if (std::any_of(served.begin(), served.end(), has_seat)) {
      names.push_back(name);
    }
  };
  if (reader.IsHidden()) {
    for (const auto& [name, peer] : workers.all()) consider(name, peer);
  } else {
    for (const std::string& name : workers.hidden()) {
      consider(name, *workers.FindCurrent(name));
    }
  }
  return names;
}

}  // namespace

OrdersWriter::OrdersWriter(const JobTable& jobs, const WorkerTable& workers,
                           const ClusterOptions& options, Instant now)
    : jobs_(jobs), workers_(workers), options_(options) {
  of_jobs_.reserve(jobs.all().size());
  for (const auto& [id, job] : jobs.all()) {
    of_jobs_.emplace_back(job, workers, options, now);
  }
}

Orders OrdersWriter::For(const Worker& worker) {
  Orders orders;
  orders.boot = worker.boot;
  orders.incarnation = worker.incarnation;
  orders.lease = options_.lease;
  orders.released = worker.draining && !IsNeeded(jobs_, workers_, worker);
  orders.drain = worker.intent == WorkerIntent::kDrain;
  for (JobOrdersWriter& job : of_jobs_) {
    std::optional<JobOrders> order = job.For(worker.self.worker);
    if (order.has_value()) orders.jobs.push_back(*std::move(order));
  }
  orders.directory = DirectoryFor(
      orders, ReversePeers(orders, jobs_, workers_, worker), workers_, worker);
  orders.awaited_by = AwaitedBy(orders.directory, workers_, worker);
  AddRelays(workers_, worker, orders.directory);
  orders.relayed = PairsOfRelay(jobs_, workers_, worker);
  orders.tries = TriesFor(jobs_, workers_, worker);
  return orders;
}

}  // namespace skerry::coordinator
