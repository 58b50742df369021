// coordinator/core/queue.h
//
// Whose turn it is when several jobs want the same workers: on every island
// first those that have begun there, then by priority, then in the order of
// submission.
//
// Nothing is ever taken from a job that has begun. One that too few workers are
// there for, or whose owner's quota is used up, stands aside: it holds up
// nobody behind it.
#ifndef SKERRY_COORDINATOR_CORE_QUEUE_H_
#define SKERRY_COORDINATOR_CORE_QUEUE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "base/ids.h"
#include "coordinator/core/options.h"
#include "coordinator/core/worker_table.h"
#include "job/job_spec.h"

namespace skerry::coordinator {

// What the queue looks at of an unfinished job.
struct QueuedJob {
  JobId id;
  const job::JobSpec* spec = nullptr;
  // Where it has had a life; null: nowhere.
  const absl::btree_map<std::string, ReplicaId>* begun_on = nullptr;
  // It has no place on any worker and would take one.
  bool waits = false;

  bool Begun() const { return begun_on != nullptr && !begun_on->empty(); }
  bool BegunOn(std::string_view island) const;
};

struct Turn {
  // Why no worker is for it now, in words; empty: that depends on the island.
  std::string held;
  // Jobs that come first there; none on islands that are not named.
  absl::btree_map<std::string, size_t> before;
  // Among the jobs that wait, from 1; 0 when it does not.
  size_t position = 0;
  size_t length = 0;

  size_t BeforeOn(std::string_view island) const;
};

class JobQueue {
 public:
  // Unfinished jobs in any order. `workers`, `options` and what the jobs point
  // to have to outlive it.
  JobQueue(std::vector<QueuedJob> jobs, const WorkerTable& workers,
           const ClusterOptions& options);

  // Of one of the jobs; of another job nothing is in the way.
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

#endif  // SKERRY_COORDINATOR_CORE_QUEUE_H_
