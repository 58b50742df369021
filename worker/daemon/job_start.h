// worker/daemon/job_start.h
//
// Decides where a job begins on a worker: at the trainer's initial values, or
// at a state that is read from a checkpoint.
#ifndef SKERRY_WORKER_DAEMON_JOB_START_H_
#define SKERRY_WORKER_DAEMON_JOB_START_H_

#include <vector>

#include "base/ids.h"
#include "job/job_spec.h"
#include "protocol/job_orders.h"
#include "worker/core/effects.h"

namespace skerry::worker {

class JobStart {
 public:
  // `orders` are the first that name the job.
  explicit JobStart(const protocol::JobOrders& orders);

  // The sequence of each fragment at which the job begins.
  const std::vector<Sequence>& at() const { return at_; }
  // The state that the job last went back to; empty when it never did.
  const protocol::RestoredState& restored() const { return restored_; }
  // Whether the job goes on from the checkpoint that it begins at, with the
  // inner state of its trainers: it has gone back to it, or goes on with its
  // samples.
  bool GoesOn() const { return goes_on_; }
  // Whether a checkpoint has to be read first. It has to if the job starts from
  // one whose state is not on the disk and which is still of use.
  bool NeedsCheckpoint(const std::vector<StoredFile>& on_disk) const;
  // The job's spec with that checkpoint as the one that it starts from.
  job::JobSpec SpecToRead(job::JobSpec spec) const;

 private:
  protocol::RestoredState restored_;
  bool has_checkpoint_;
  bool goes_on_;
  // FragmentOrders.keep_from of each fragment in the first orders.
  std::vector<Sequence> keep_from_;
  std::vector<Sequence> at_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_JOB_START_H_
