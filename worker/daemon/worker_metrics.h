// worker/daemon/worker_metrics.h
//
// Builds a worker's metrics for Prometheus. docs/metrics.md explains each name.
#ifndef SKERRY_WORKER_DAEMON_WORKER_METRICS_H_
#define SKERRY_WORKER_DAEMON_WORKER_METRICS_H_

#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "protocol/status_facts.h"
#include "runtime/metrics.h"

namespace skerry::worker {

struct WorkerFacts {
  // The Status that would be sent now.
  protocol::StatusFacts status;
  // Names of the jobs that are served, by number.
  absl::btree_map<uint64_t, std::string> job_names;
  // Whether orders have come over the present session.
  bool connected = false;
  // Sessions that have ended since the process started.
  uint64_t sessions_lost = 0;
};

// Returns the metrics in a fixed order. Series of a job carry its name and
// number, those of a link also the worker at its other end.
std::vector<runtime::Metric> MetricsOf(const WorkerFacts& facts);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_WORKER_METRICS_H_
