#include "worker/core/inner_schedule.h"

#include <utility>

namespace skerry::worker {

void InnerSchedule::OnTrainer(bool can_save) {
  can_save_ = can_save;
  decides_ = true;
  is_unproven_ = false;
  has_trained_ = false;
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
}

void InnerSchedule::OnSaved(Instant since, Instant now, uint64_t sequence) {
  has_trained_ = false;
  saved_at_ = sequence;
  next_save_ = now + (kPartOfTime - 1) * (now - since);
}

void InnerSchedule::OnSaveFailed(Instant now) {
  retry_at_ = now + kTryAgainAfter;
}

const char* InnerSchedule::Distrust() const {
  return failures_ < kFailuresMax ? ""
                                  : "the last two trainers that went on with "
                                    "the saved one failed in their first round";
}

bool InnerSchedule::IsDue(Instant now, uint64_t sequence,
                          uint64_t checkpoint_every) const {
  if (!can_save_ || !has_trained_ || now < retry_at_) return false;
  if (now >= next_save_) return true;
  return checkpoint_every > 0 &&
         sequence / checkpoint_every > saved_at_ / checkpoint_every;
}

}  // namespace skerry::worker
