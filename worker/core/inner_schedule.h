// worker/core/inner_schedule.h
//
// Decides when a trainer's inner state is saved, and whether a new trainer
// loads what was saved. A trainer stands still while it saves, so that takes at
// most a hundredth of the time, except at boundaries whose state goes into a
// checkpoint. The file that a checkpoint is about to take is left alone for a
// while. A state that does not work must not keep a job from training: one with
// which two trainers have failed before their first round is not loaded again.
#ifndef SKERRY_WORKER_CORE_INNER_SCHEDULE_H_
#define SKERRY_WORKER_CORE_INNER_SCHEDULE_H_

#include <cstdint>

#include "absl/time/time.h"
#include "base/instant.h"

namespace skerry::worker {

class InnerSchedule {
 public:
  // Saves take one part in so many of the whole time.
  static constexpr int kPartOfTime = 100;
  // After a save that failed the next one is tried no sooner.
  static constexpr absl::Duration kTryAgainAfter = absl::Minutes(1);
  // What was saved for a checkpoint stays for so long, unless the next one for
  // a checkpoint comes.
  static constexpr absl::Duration kCheckpointTakes = absl::Seconds(10);
  // A state is given up when so many trainers have failed with it.
  static constexpr int kFailuresMax = 2;

  // A fresh trainer is there, which can save its inner state or cannot.
  void OnTrainer(bool can_save);
  void OnTrainerFailed();
  // The trainer begins to train.
  void OnTrains() { has_trained_ = has_state_ = leaves_something_ = true; }
  // It has taken steps, with finite losses.
  void OnRound();
  // The trainer has taken a saved state, or begins without one.
  void OnLoaded(bool loaded);
  // A save of the state at `sequence` has begun at `since` and ended at `now`.
  void OnSaved(Instant since, Instant now, uint64_t sequence,
               bool for_checkpoint);
  void OnSaveFailed(Instant now);
  // The trainer goes on from the state at `sequence`, saved or not.
  void OnPassed(uint64_t sequence);
  // The worker drains, and the state with which it leaves is saved or is not.
  void OnLeft() { leaves_something_ = false; }

  // Whether it is not decided yet with what the trainer begins.
  bool decides() const { return decides_; }
  bool can_save() const { return can_save_; }
  // Whether the trainer has trained since the worker last left a life by
  // itself.
  bool leaves_something() const { return leaves_something_; }
  // Why what was saved is not loaded; empty when it may be.
  const char* Distrust() const;
  // Whether to save at a boundary with this state.
  bool IsDue(Instant now, uint64_t sequence, uint64_t checkpoint_every,
             bool is_last) const;
  // Whether a checkpoint may be waiting for this state: states at multiples of
  // `checkpoint_every` go into checkpoints, and the last one; 0: none do.
  bool IsForCheckpoint(uint64_t sequence, uint64_t checkpoint_every,
                       bool is_last) const;
  // Whether the state at this sequence may yet be saved by this trainer.
  bool MayCome(uint64_t sequence) const {
    return can_save_ && has_state_ && passed_ < sequence;
  }

 private:
  bool can_save_ = false;
  // The trainer has trained, or has loaded what another one saved.
  bool has_state_ = false;
  bool leaves_something_ = false;
  bool decides_ = false;
  // It has loaded a state and not come through a round since.
  bool is_unproven_ = false;
  // The inner state is another one than was saved last.
  bool has_trained_ = false;
  int failures_ = 0;
  uint64_t saved_at_ = 0;
  uint64_t passed_ = 0;
  Instant next_save_;
  Instant retry_at_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_INNER_SCHEDULE_H_
