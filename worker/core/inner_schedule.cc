#include "worker/core/inner_schedule.h"

#include <algorithm>
#include <utility>

namespace skerry::worker {

void InnerSchedule::OnTrainer(bool can_save) {
  can_save_ = can_save;
  decides_ = true;
  is_unproven_ = false;
  has_trained_ = false;
  has_state_ = false;
  leaves_something_ = false;
}

void InnerSchedule::OnTrainerFailed() {
  if (std::exchange(is_unproven_, false)) ++failures_;
}

void InnerSchedule::OnRound() {
  is_unproven_ = false;
  failures_ = 0;
}

void InnerSchedule::OnLoaded(bool loaded) {
  decides_ = false;
  is_unproven_ = loaded;
  has_state_ = loaded;
}

void InnerSchedule::OnSaved(Instant since, Instant now, uint64_t sequence,
                            bool for_checkpoint) {
  has_trained_ = false;
  saved_at_ = sequence;
  absl::Duration rest = (kPartOfTime - 1) * (now - since);
  if (for_checkpoint) rest = std::max(rest, kCheckpointTakes);
  next_save_ = now + rest;
  OnPassed(sequence);
}

void InnerSchedule::OnPassed(uint64_t sequence) {
  passed_ = std::max(passed_, sequence);
}

void InnerSchedule::OnSaveFailed(Instant now) {
  retry_at_ = now + kTryAgainAfter;
}

const char* InnerSchedule::Distrust() const {
  return failures_ < kFailuresMax ? ""
                                  : "the last two trainers that went on with "
                                    "the saved one failed in their first round";
}

bool InnerSchedule::IsForCheckpoint(uint64_t sequence,
                                    uint64_t checkpoint_every,
                                    bool is_last) const {
  if (checkpoint_every == 0 || sequence <= saved_at_) return false;
  return is_last || sequence / checkpoint_every > saved_at_ / checkpoint_every;
}

bool InnerSchedule::IsDue(Instant now, uint64_t sequence,
                          uint64_t checkpoint_every, bool is_last) const {
  if (!can_save_ || !has_state_ || now < retry_at_) return false;
  if (IsForCheckpoint(sequence, checkpoint_every, is_last)) return true;
  // The disk would still be busy with this one at the next boundary.
  const bool next_is_for_checkpoint =
      checkpoint_every > 0 && (sequence + 1) % checkpoint_every == 0;
  return has_trained_ && now >= next_save_ && !next_is_for_checkpoint;
}

}  // namespace skerry::worker
