// coordinator/service/coordinator_metrics.h
//
// Builds the coordinator's metrics for Prometheus. docs/metrics.md explains
// each name.
#ifndef SKERRY_COORDINATOR_SERVICE_COORDINATOR_METRICS_H_
#define SKERRY_COORDINATOR_SERVICE_COORDINATOR_METRICS_H_

#include <vector>

#include "base/instant.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/views/views.h"
#include "coordinator/service/cluster_shell.h"
#include "runtime/metrics.h"

namespace skerry::coordinator {

// In a fixed order. Series of a job carry its name and number; at most one a
// remembered job and metric, none a worker.
std::vector<runtime::Metric> MetricsOf(const Cluster& cluster, Instant now,
                                       const ShellFacts& shell);

// The number of jobs in each phase, as `skerryctl get jobs` names the phases.
runtime::Metric JobCensus(const std::vector<JobView>& jobs);

// One sample for each job and each name that its trainers report.
runtime::Metric TrainerMetrics(const std::vector<JobView>& jobs);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_COORDINATOR_METRICS_H_
