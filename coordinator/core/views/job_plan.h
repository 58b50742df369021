// coordinator/core/views/job_plan.h
//
// Tells what would happen if a job were submitted now: who would work on it,
// with which spans, and what an exchange would cost. It applies the rules of
// membership.h and exchange.h without changing anything.
#ifndef SKERRY_COORDINATOR_CORE_VIEWS_JOB_PLAN_H_
#define SKERRY_COORDINATOR_CORE_VIEWS_JOB_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "coordinator/core/state/job_table.h"
#include "coordinator/core/state/options.h"
#include "coordinator/core/state/queue.h"
#include "coordinator/core/state/worker_table.h"
#include "coordinator/core/views/views.h"
#include "job/job_spec.h"
#include "job/review.h"

namespace skerry::coordinator {

struct PlannedSeat {
  std::string worker;
  // The range is empty when the model's size is not known.
  uint32_t span_begin = 0;
  uint32_t span_end = 0;
  uint64_t elements = 0;
  // The worker's host memory for the outer loop, in bytes, as
  // planner/memory_model.h predicts it.
  uint64_t host_bytes = 0;
};

struct PlannedReplica {
  std::string island;
  std::vector<PlannedSeat> seats;  // by rank
};

struct LeftOutWorker {
  std::string worker;
  std::string island;
  std::string reason;
};

struct PlannedExchange {
  uint32_t members = 0;
  uint32_t hops = 0;  // 0: a lone member has nobody to send to
  std::string reason;
  std::string codec;
  // The bytes of the whole model in the codec, and those that one member sends
  // to exchange it.
  uint64_t model_bytes = 0;
  uint64_t sent_bytes_each = 0;
  uint64_t samples_per_round = 0;
  uint64_t rounds = 0;
  // How long an exchange takes by the links between the replicas, with equal
  // shares for owners; 0 when a link has not been measured.
  double seconds = 0;
};

struct JobPlan {
  // With every default filled in.
  job::JobSpec spec;
  std::vector<std::string> warnings;
  bool starts = false;
  // Why it starts, or what it would wait for.
  std::string reason;
  std::vector<PlannedReplica> replicas;  // by island
  std::vector<LeftOutWorker> left_out;   // by name
  // None when the model's size is not known or nobody would work.
  std::optional<PlannedExchange> exchange;
  // Among the jobs that would wait; 0 when it starts.
  size_t queue_position = 0;
  size_t queue_length = 0;
  // Workers whose word about the data set is still to come.
  uint32_t data_pending = 0;
};

// What a worker's links have shown.
using LinksOfWorker =
    absl::FunctionRef<std::vector<LinkView>(const std::string& worker)>;

// `elements` is the model's size, 0 when it is not known.
JobPlan PlanJob(job::ReviewedSpec reviewed, uint64_t elements,
                const WorkerTable& workers, const ClusterOptions& options,
                const Turn& turn, LinksOfWorker links);

// Plans the job as if it were submitted now, with the turn that it would have
// among `jobs` and the links that workers have measured.
JobPlan PlanNext(job::ReviewedSpec reviewed, uint64_t elements,
                 const JobTable& jobs, const WorkerTable& workers,
                 const ClusterOptions& options);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_VIEWS_JOB_PLAN_H_
