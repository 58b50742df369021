// coordinator/core/rules/job_orders.h
//
// Builds what one worker is told about one job.
#ifndef SKERRY_COORDINATOR_CORE_RULES_JOB_ORDERS_H_
#define SKERRY_COORDINATOR_CORE_RULES_JOB_ORDERS_H_

#include <optional>
#include <string_view>

#include "coordinator/core/state/job_state.h"
#include "protocol/job_orders.h"

namespace skerry::coordinator {

using protocol::JobOrders;

// Empty when the job is no concern of the worker: it has no place in it and
// does not report it. Generate orders are left to the caller.
std::optional<JobOrders> JobOrdersFor(const JobState& job,
                                      const WorkerTable& workers,
                                      const ClusterOptions& options,
                                      std::string_view worker, Instant now);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_JOB_ORDERS_H_
