// worker/shell/inner_source.h
//
// Finds the checkpoint whose inner state the trainers of a job begin with on
// this worker.
#ifndef SKERRY_WORKER_SHELL_INNER_SOURCE_H_
#define SKERRY_WORKER_SHELL_INNER_SOURCE_H_

#include <optional>
#include <string>

#include "base/ids.h"
#include "protocol/job_orders.h"
#include "worker/daemon/job_start.h"

namespace skerry::worker {

struct InnerSource {
  std::string place = "";
  // A checkpoint and the SHA-256 of its manifest. Without a name: the newest
  // one of this job that has an inner state and is of the present history.
  std::string name = "";
  std::string sha256 = "";
  // The job, and what it last went back to.
  std::string job;
  JobId number;
  protocol::RestoredState restored;
};

// `orders` are the first that name the job, and `start` is made of them.
// `reads_base`: the worker makes its base of a checkpoint. Then its trainers
// take the inner state of that checkpoint, if the job goes on from it. A worker
// that joins a job on its way takes that of the job's newest checkpoint.
// Nothing: they begin without.
std::optional<InnerSource> FindInnerSource(const protocol::JobOrders& orders,
                                           const JobStart& start,
                                           bool reads_base);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_INNER_SOURCE_H_
