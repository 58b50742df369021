// What the seat says of itself, and when that is news.
#include "worker/core/seat_impl.h"

namespace skerry::worker {

// Much comes about in callbacks, so it is compared with what was said last.
void Seat::Impl::ConsiderStatus() {
  SeatSaid now{State(), life_, {}};
  for (const auto& fragment : fragments_) {
    const Recovery& recovery = fragment->recovery();
    now.fragments.push_back(
        {recovery.ready(), recovery.applied(), recovery.stored_through()});
  }
  if (said_ == now) return;
  said_ = std::move(now);
  Changed();
}

SeatState Seat::Impl::State() const {
  if (!failure_.empty()) return SeatState::kFailed;
  if (!Works()) return SeatState::kStarting;
  if (over()) {
    const bool without_place = begin() == end();
    return step_ == Step::kResting || without_place ? SeatState::kResting
                                                    : SeatState::kRecovering;
  }
  if (!trainer_ready_) return SeatState::kStarting;
  return life_.is_set() ? SeatState::kActive : SeatState::kRecovering;
}

JobFacts Seat::Impl::Facts() const {
  JobFacts facts;
  facts.job = options_.job;
  facts.life = life_;
  facts.abandoned_life = abandoned_;
  facts.error = failure_.empty() ? DiskError() : failure_;
  if (facts.error.empty()) facts.error = InitialTrouble();
  facts.state = State();
  facts.element_count = trainer_ ? trainer_->element_count : elements_;
  facts.average_begin = trainer_ ? trainer_->average_begin : average_begin_;
  if (trainer_) {
    facts.epoch_samples = trainer_->epoch_samples;
    facts.flops_per_sample = trainer_->flops_per_sample;
    facts.validation_samples =
        trainer_->evaluates ? trainer_->validation_samples : 0;
    facts.initial_hash = trainer_->initial_hash;
    facts.layout_hash = trainer_->layout_hash;
    facts.trains_alone = !trainer_->groups;
  }
  facts.metrics = metrics_;
  facts.counters = counters_;
  for (const auto& fragment : fragments_) {
    facts.fragments.push_back(fragment->Facts(Works()));
    fragment->AddCounters(facts.counters);
    const uint64_t begun_with = fragment->recovery().begun_with();
    if (begun_with != 0) facts.begun_with = begun_with;
  }
  for (const Evaluated& one : evaluations_) {
    facts.evaluations.push_back(one.fact);
  }
  facts.generated = generated_;
  facts.result_codecs = true;
  return facts;
}

}  // namespace skerry::worker
