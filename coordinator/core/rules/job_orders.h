// coordinator/core/rules/job_orders.h
//
// Builds what one worker is told about one job.
#ifndef SKERRY_COORDINATOR_CORE_RULES_JOB_ORDERS_H_
#define SKERRY_COORDINATOR_CORE_RULES_JOB_ORDERS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/core/rules/retention.h"
#include "coordinator/core/state/job_state.h"
#include "protocol/fragment_orders.h"
#include "protocol/job_orders.h"

namespace skerry::coordinator {

using protocol::JobOrders;

// Writes what workers are told about one job, from one state of it. What is the
// same for several workers is found out once. It stands until the job or the
// workers change.
class JobOrdersWriter {
 public:
  JobOrdersWriter(const JobState& job, const WorkerTable& workers,
                  const ClusterOptions& options, Instant now)
      : job_(job),
        workers_(workers),
        options_(options),
        now_(now),
        servers_(job.fragments.size()) {}

  // Empty when the job is no concern of the worker: it has no place in it and
  // does not report it. Generate orders are left to the caller.
  std::optional<JobOrders> For(std::string_view worker);

 private:
  protocol::FragmentOrders FragmentFor(size_t index, const Seat* seat,
                                       const JobOrders& orders,
                                       std::string_view worker);
  const std::vector<std::string>& Named();
  const Servers& ServersOf(size_t fragment);

  const JobState& job_;
  const WorkerTable& workers_;
  const ClusterOptions& options_;
  const Instant now_;
  std::optional<std::vector<std::string>> named_;
  std::vector<std::optional<Servers>> servers_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_JOB_ORDERS_H_
