#include "worker/convert/control.h"
#include "worker/convert/fields.h"

namespace skerry::worker {
namespace {

v1::SeatState StateToProto(SeatState state) {
  switch (state) {
    case SeatState::kStarting:
      return v1::SEAT_STATE_STARTING;
    case SeatState::kRecovering:
      return v1::SEAT_STATE_RECOVERING;
    case SeatState::kActive:
      return v1::SEAT_STATE_ACTIVE;
    case SeatState::kResting:
      return v1::SEAT_STATE_RESTING;
    case SeatState::kFailed:
      return v1::SEAT_STATE_FAILED;
  }
  return v1::SEAT_STATE_UNSPECIFIED;
}

void FragmentToProto(const FragmentFacts& facts, v1::FragmentStatus* out) {
  out->set_span_begin(facts.span_begin);
  out->set_applied(facts.applied.value());
  for (const uint64_t hash : facts.anchor_hashes) out->add_anchor_hashes(hash);
  out->set_stored_through(facts.stored_through.value());
  if (facts.stored) {
    v1::StoredResult* stored = out->mutable_stored();
    stored->set_sequence(facts.stored->sequence.value());
    stored->set_attempt(facts.stored->attempt.value());
    for (const uint64_t hash : facts.stored->hashes) stored->add_hashes(hash);
    stored->set_squared_norm(facts.stored->squared_norm);
  }
  if (facts.ready) {
    v1::ReadyContribution* ready = out->mutable_ready();
    ready->set_round(facts.ready->round.value());
    ready->set_base(facts.ready->base.value());
    ready->set_weight(facts.ready->weight);
    RangesToProto(facts.ready->ranges, ready->mutable_ranges());
    ScalarsToProto(facts.ready->scalars, ready->mutable_scalars());
  }
  for (const MemberProgress& progress : facts.progress) {
    v1::Progress* one = out->add_progress();
    one->set_replica(progress.replica.value());
    one->set_bytes(progress.bytes);
    one->set_bytes_expected(progress.bytes_expected);
  }
  for (const HeldBase& base : facts.bases) {
    v1::HeldBase* one = out->add_bases();
    one->set_sequence(base.sequence.value());
    one->set_span_begin(base.span_begin);
    for (const uint64_t hash : base.hashes) one->add_hashes(hash);
  }
  out->set_first_result_kept(facts.first_result_kept.value());
  out->set_pin(facts.pin.value());
  out->set_owed_norm(facts.owed_norm);
  out->set_lost_norm(facts.lost_norm);
  out->set_applied_attempt(facts.applied_attempt.value());
  out->set_last_result(facts.last_result.value());
  out->set_last_result_attempt(facts.last_result_attempt.value());
}

void CountersToProto(const SeatCounters& counters, v1::SeatCounters* out) {
  out->set_bulk_sent_bytes(counters.payload_bytes_sent);
  out->set_bulk_received_bytes(counters.payload_bytes_received);
  out->set_compute_s(counters.compute_s);
  out->set_stall_s(counters.stall_s);
  out->set_samples(counters.samples);
  out->set_rounds(counters.rounds);
  out->set_trainer_restarts(counters.trainer_restarts);
}

}  // namespace

void JobFactsToProto(const JobFacts& facts, v1::JobStatus* status) {
  status->Clear();
  status->set_job(facts.job.value());
  status->set_life(facts.life.value());
  status->set_abandoned_life(facts.abandoned_life.value());
  status->set_state(StateToProto(facts.state));
  status->set_error(facts.error);
  status->set_element_count(facts.element_count);
  status->set_epoch_samples(facts.epoch_samples);
  status->set_flops_per_sample(facts.flops_per_sample);
  if (facts.validation_samples.has_value()) {
    status->set_validation_samples(*facts.validation_samples);
  }
  status->set_initial_hash(facts.initial_hash);
  status->set_layout_hash(facts.layout_hash);
  for (size_t f = 0; f < facts.fragments.size(); ++f) {
    v1::FragmentStatus* fragment = status->add_fragments();
    fragment->set_fragment(static_cast<uint32_t>(f));
    FragmentToProto(facts.fragments[f], fragment);
  }
  for (const Evaluation& evaluation : facts.evaluations) {
    v1::Evaluation* one = status->add_evaluations();
    one->set_sequence(evaluation.sequence.value());
    one->set_loss(evaluation.loss);
    one->set_samples(evaluation.samples);
  }
  for (const Generated& generated : facts.generated) {
    v1::Generated* one = status->add_generated();
    one->set_request(generated.request);
    one->set_text(generated.text);
    one->set_error(generated.error);
  }
  CountersToProto(facts.counters, status->mutable_counters());
  status->set_result_codecs(true);
}

}  // namespace skerry::worker
