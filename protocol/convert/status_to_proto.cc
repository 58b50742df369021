#include "base/release.h"
#include "protocol/convert/fields.h"
#include "protocol/convert/reach.h"
#include "protocol/convert/status.h"

namespace skerry::protocol {
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
  out->set_fragment(static_cast<uint32_t>(facts.fragment.value()));
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
  if (facts.ready) ContributionToProto(*facts.ready, out->mutable_ready());
  for (const Progress& progress : facts.progress) {
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
    one->set_attempt(base.attempt.value());
  }
  out->set_first_result_kept(facts.first_result_kept.value());
  out->set_pin(facts.pin.value());
  out->set_owed_norm(facts.owed_norm);
  out->set_lost_norm(facts.lost_norm);
  out->set_applied_attempt(facts.applied_attempt.value());
  out->set_last_result(facts.last_result.value());
  out->set_last_result_attempt(facts.last_result_attempt.value());
}

void CheckpointToProto(const CheckpointFact& fact, v1::CheckpointOutcome* out) {
  out->set_sequence(fact.sequence.value());
  out->set_sha256(fact.sha256);
  out->set_bytes(fact.bytes);
  out->set_error(fact.error);
}

void LinkToProto(const PeerLink& link, v1::PeerLink* out) {
  out->set_worker(link.worker);
  out->set_address(link.address);
  out->set_bytes_per_s(link.bytes_per_s);
  out->set_rate_spread(link.rate_spread);
  out->set_round_trip_s(link.round_trip_s);
  out->set_round_trip_spread_s(link.round_trip_spread_s);
}

void SpeedToProto(const CodecSpeed& speed, v1::CodecSpeed* out) {
  out->set_codec(speed.codec);
  out->set_encode_elements_per_s(speed.encode_elements_per_s);
  out->set_decode_elements_per_s(speed.decode_elements_per_s);
}

void TasksToProto(const JobFacts& facts, v1::JobStatus* status) {
  for (const EvaluationFact& evaluation : facts.evaluations) {
    v1::Evaluation* one = status->add_evaluations();
    one->set_sequence(evaluation.sequence.value());
    one->set_loss(evaluation.loss);
    one->set_samples(evaluation.samples);
  }
  for (const GeneratedFact& generated : facts.generated) {
    v1::Generated* one = status->add_generated();
    one->set_request(generated.request);
    one->set_text(generated.text);
    one->set_error(generated.error);
  }
}

void JobToProto(const JobFacts& facts, v1::JobStatus* status) {
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
  status->set_begun_with(facts.begun_with);
  status->set_average_begin(facts.average_begin);
  status->set_trainer_trouble(facts.trainer_trouble);
  for (const FragmentFacts& fragment : facts.fragments) {
    FragmentToProto(fragment, status->add_fragments());
  }
  TasksToProto(facts, status);
  CountersToProto(facts.counters, status->mutable_counters());
  for (const PeerLink& link : facts.links) {
    LinkToProto(link, status->add_links());
  }
  for (const CodecSpeed& speed : facts.codec_speeds) {
    SpeedToProto(speed, status->add_codec_speeds());
  }
  status->set_result_codecs(facts.result_codecs);
  if (facts.checkpoint.has_value()) {
    CheckpointToProto(*facts.checkpoint, status->mutable_checkpoint());
  }
  status->set_uid(facts.uid);
  status->set_checkpoint_trouble(facts.checkpoint_trouble);
  status->set_has_data(facts.has_data);
  status->mutable_metrics()->insert(facts.metrics.begin(), facts.metrics.end());
  status->set_trains_alone(facts.trains_alone);
}

void MachineToProto(const MachineFacts& machine, v1::Machine* out) {
  out->set_unix_ms(machine.unix_ms);
  out->set_state_free_bytes(machine.state_free_bytes);
  out->set_state_bytes(machine.state_bytes);
  out->set_memory_bytes(machine.memory_bytes);
  out->set_host(machine.host);
}

void DataToProto(const job::DataFacts& data, v1::DataFacts* out) {
  out->set_path(data.path);
  out->set_error(data.error);
  out->set_manifest_sha256(data.manifest_sha256);
  out->set_vocabulary(data.vocabulary);
  out->set_training_tokens(data.training_tokens);
  out->set_validation_tokens(data.validation_tokens);
  out->set_save_error(data.save_error);
}

void StoredToProto(const StoredJobs& stored, v1::Status* out) {
  for (const StoredJob& job : stored.all) {
    v1::StoredJob* one = out->add_stored_jobs();
    one->set_job(job.key.job.value());
    one->set_uid(job.key.uid);
    one->set_bytes(job.bytes);
    one->set_ended_unix_ms(job.ended_unix_ms);
  }
  out->set_keep_ended_ms(
      static_cast<uint64_t>(absl::ToInt64Milliseconds(stored.keep_ended)));
  out->set_keep_ended_bytes(stored.keep_ended_bytes);
}

}  // namespace

void StatusToProto(const StatusFacts& facts, v1::Status* out) {
  out->Clear();
  out->set_protocol_version(kProtocolVersion);
  out->set_release(facts.release);
  PeerToProto(facts.self, out->mutable_self());
  out->set_island(facts.island);
  out->set_boot(facts.boot.value());
  out->set_incarnation(facts.incarnation.value());
  out->set_counter(facts.counter);
  for (const JobFacts& job : facts.jobs) JobToProto(job, out->add_jobs());
  out->set_draining(facts.draining);
  out->set_drain_reason(facts.drain_reason);
  if (facts.machine != MachineFacts()) {
    MachineToProto(facts.machine, out->mutable_machine());
  }
  for (const job::DataFacts& data : facts.data) {
    DataToProto(data, out->add_data());
  }
  out->set_looks_at_data(facts.looks_at_data);
  out->set_takes_streams(facts.takes_streams);
  out->set_takes_relays(facts.takes_relays);
  out->set_fetches_data(facts.fetches_data);
  for (const std::string& name : facts.unreached) out->add_unreached(name);
  for (const Tried& tried : facts.tried) TriedToProto(tried, out->add_tried());
  out->set_folder(facts.folder.value());
  out->set_process(facts.process.value());
  out->set_seen(facts.seen.value());
  StoredToProto(facts.stored, out);
  for (const ProgramFact& program : facts.programs) {
    v1::ProgramFact* one = out->add_programs();
    one->set_name(program.name);
    one->set_sha256(program.sha256);
  }
  out->set_revoked_version(facts.revoked_version);
}

}  // namespace skerry::protocol
