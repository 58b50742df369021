// worker/daemon/worker_metrics.h
//
// What a worker tells Prometheus of itself. docs/metrics.md explains each name.
#ifndef SKERRY_WORKER_DAEMON_WORKER_METRICS_H_
#define SKERRY_WORKER_DAEMON_WORKER_METRICS_H_

#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "proto/skerry/v1/control.pb.h"
#include "runtime/metrics.h"

namespace skerry::worker {

struct WorkerFacts {
  // As it would be sent now.
  v1::Status status;
  // Of the jobs in it, by number.
  absl::btree_map<uint64_t, std::string> job_names;
  // Orders have come over the session that stands.
  bool connected = false;
  // Sessions that have ended since the process started.
  uint64_t sessions_lost = 0;
};

// In a fixed order. Series of a job carry its name and number, those of a link
// also the address at its other end.
std::vector<runtime::Metric> MetricsOf(const WorkerFacts& facts);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_WORKER_METRICS_H_
