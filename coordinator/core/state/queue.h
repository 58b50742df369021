// coordinator/core/state/queue.h
//
// Decides whose turn it is when several jobs want the same workers. On every
// island, jobs that have begun there come first. The others follow by priority,
// then in the order of submission.
//
// Nothing is ever taken from a job that has begun. A job that waits for more
// workers than there are, or whose owner's quota is used up, stands aside and
// holds up no job behind it.
#ifndef SKERRY_COORDINATOR_CORE_STATE_QUEUE_H_
#define SKERRY_COORDINATOR_CORE_STATE_QUEUE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "base/ids.h"
#include "coordinator/core/state/options.h"
#include "coordinator/core/state/worker_table.h"
#include "job/job_spec.h"

namespace skerry::coordinator {

// What the queue needs to know of an unfinished job.
struct QueuedJob {
  JobId id;
  const job::JobSpec* spec = nullptr;
  // The islands where it has had a life; null when it has had none.
  const absl::btree_map<std::string, ReplicaId>* begun_on = nullptr;
  // It has no place on any worker and would take one.
  bool waits = false;

  bool Begun() const { return begun_on != nullptr && !begun_on->empty(); }
  bool BegunOn(std::string_view island) const;
};

struct Turn {
  // Why the job gets no worker anywhere now, in words. Empty when that depends
  // on the island.
  std::string held;
  // By island, how many jobs come first there. An island that is missing has
  // none.
  absl::btree_map<std::string, size_t> before;
  // The place among the jobs that wait, counted from 1; 0 when the job does not
  // wait.
  size_t position = 0;
  size_t length = 0;

  size_t BeforeOn(std::string_view island) const;
};

class JobQueue {
 public:
  // `jobs` are the unfinished jobs, in any order. They may point to objects
  // that, like `workers` and `options`, must outlive the queue.
  JobQueue(std::vector<QueuedJob> jobs, const WorkerTable& workers,
           const ClusterOptions& options);

  // Returns the turn of `job`. Nothing is in the way of a job that is not in
  // the queue.
  Turn TurnOf(JobId job) const;

 private:
  struct Standing {
    QueuedJob job;
    bool aside = false;
    std::string held;
  };
  void Stand(Standing& standing,
             absl::btree_map<std::string_view, size_t>& at_work) const;
  size_t CountBefore(const Standing& one, std::string_view island) const;

  const ClusterOptions& options_;
  // Workers that may get something new, by island.
  absl::btree_map<std::string_view, size_t> usable_;
  // In the order in which they get workers.
  std::vector<Standing> standings_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_QUEUE_H_
