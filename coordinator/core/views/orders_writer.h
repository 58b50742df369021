// coordinator/core/views/orders_writer.h
//
// Writes what workers are told, from one state of the cluster.
#ifndef SKERRY_COORDINATOR_CORE_VIEWS_ORDERS_WRITER_H_
#define SKERRY_COORDINATOR_CORE_VIEWS_ORDERS_WRITER_H_

#include <vector>

#include "base/instant.h"
#include "coordinator/core/rules/job_orders.h"
#include "coordinator/core/state/job_table.h"
#include "coordinator/core/state/worker_table.h"
#include "protocol/orders.h"

namespace skerry::coordinator {

using protocol::Orders;

// It stands until a job or a worker changes.
class OrdersWriter {
 public:
  OrdersWriter(const JobTable& jobs, const WorkerTable& workers,
               const ClusterOptions& options, Instant now);

  // Returns all but the revision, prompts and what the join table knows.
  Orders For(const Worker& worker);

 private:
  const JobTable& jobs_;
  const WorkerTable& workers_;
  const ClusterOptions& options_;
  std::vector<JobOrdersWriter> of_jobs_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_VIEWS_ORDERS_WRITER_H_
