// worker/core/seat_step.h
//
// Names the steps of a seat in its round.
#ifndef SKERRY_WORKER_CORE_SEAT_STEP_H_
#define SKERRY_WORKER_CORE_SEAT_STEP_H_

namespace skerry::worker {

// The trainer is asked for something in the steps that end in -ing.
enum class SeatStep {
  kAway,          // no life: folding what is committed
  kJoin,          // a life, not in its group yet
  kJoining,       //
  kCut,           // at a boundary: the cut is not known
  kFold,          // applying through the cut
  kMerging,       // writing the next start
  kLoading,       //
  kStart,         // ready to start the round, after what else was asked
  kRunning,       //
  kPoint,         // at an apply point: the cut is not known
  kPointFold,     // applying through it, fragment by fragment
  kGoOn,          // ready to go on with the round
  kRunEnded,      // waiting for the last outcome
  kSnapshotting,  //
  kAdding,        // owed += w * (start - live)
  kReady,         // a contribution is pending; without delay, wait for it
  kClose,         // the job is over: fold everything, store the last state
  kResting,
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_SEAT_STEP_H_
