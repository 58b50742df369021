// worker/core/trainer_failures.h
//
// Decides what follows when a trainer of a job has failed on this worker:
// another trainer after a wait, or none. The number of trainers that fail in
// training is bounded, so that a job that cannot be trained fails with its
// reason instead of starting trainers for ever. If this machine's files keep a
// trainer from beginning, it is tried again at a slow pace. Somebody may put
// the files back, and the worker then serves the job by itself.
#ifndef SKERRY_WORKER_CORE_TRAINER_FAILURES_H_
#define SKERRY_WORKER_CORE_TRAINER_FAILURES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace skerry::worker {

struct TrainerFailureOptions {
  // Trainers in a row that may end with an error of their own (the loss is not
  // finite, the data hold a wrong token). Each is started from the anchor, so
  // the same error mostly comes again.
  int said_max = 5;
  // Trainers in a row whose process ended or had to be ended. What ended them
  // may be over soon: another program had the memory.
  int ended_max = 10;
  // A trainer counts as the first again when this worker has completed so many
  // rounds since the last failure: of errors of its own, and of the others.
  uint64_t said_rounds = 20;
  uint64_t ended_rounds = 1;
  // The wait before the next trainer. It doubles from one failure to the next.
  absl::Duration wait_min = absl::Milliseconds(100);
  absl::Duration wait_max = absl::Seconds(30);
  // Likewise while a trainer cannot begin.
  absl::Duration begin_wait_min = absl::Seconds(2);
  absl::Duration begin_wait_max = absl::Minutes(1);
};

// Counts the failures of one job on one worker.
class TrainerFailures {
 public:
  explicit TrainerFailures(const TrainerFailureOptions& options = {})
      : options_(options) {}

  struct Verdict {
    // Not there when the worker starts no more trainers for the job.
    std::optional<absl::Duration> restart_after;
    // The worker takes no part in the job until a trainer is ready.
    bool unfit = false;
    // For operators: the trainer's own words where it had any.
    std::string reason;
  };

  // `why` is what the trainer said of its end, Unavailable or DeadlineExceeded
  // when it said nothing, and Cancelled when nothing is wrong with it and the
  // worker wants a fresh one. `rounds` is how many this worker has completed
  // of the job; `was_ready` tells whether this trainer had begun.
  Verdict OnFailure(const absl::Status& why, uint64_t rounds, bool was_ready);

 private:
  const TrainerFailureOptions options_;
  int in_a_row_ = 0;
  int not_begun_ = 0;    // in a row, for a cause that stays until it is removed
  uint64_t rounds_ = 0;  // at the last failure
};

// Whether the trainer itself chose the words of `why`.
bool TrainerSaid(const absl::Status& why);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_TRAINER_FAILURES_H_
