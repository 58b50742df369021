// trainer/service/work_progress.h
//
// Tells the Progress call how far the call in progress is. The computing thread
// writes it, and any thread may read it.
#ifndef SKERRY_TRAINER_SERVICE_WORK_PROGRESS_H_
#define SKERRY_TRAINER_SERVICE_WORK_PROGRESS_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "proto/skerry/v1/trainer.pb.h"
#include "runtime/posix/mutex.h"
#include "runtime/posix/stopwatch.h"
#include "trainer/core/step_times.h"

namespace skerry::trainer {

class WorkProgress {
 public:
  // The computing thread begins a call. IDLE: it has ended it.
  void Enter(v1::TrainerPhase phase);
  // A piece of work is done.
  void OnPiece();
  // An inner step is done; it began with the call, or when the last one ended.
  void OnStep();
  void SetWaiting(bool waits_for_group);

  v1::ProgressReply Read() const;

 private:
  mutable runtime::Mutex mutex_;
  v1::TrainerPhase phase_ ABSL_GUARDED_BY(mutex_) = v1::TRAINER_PHASE_IDLE;
  uint64_t pieces_ ABSL_GUARDED_BY(mutex_) = 0;
  StepTimes steps_ ABSL_GUARDED_BY(mutex_);
  runtime::Stopwatch step_ ABSL_GUARDED_BY(mutex_);
  bool waits_for_group_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_SERVICE_WORK_PROGRESS_H_
