#include "coordinator/convert/operator.h"

#include <algorithm>

#include "base/status.h"
#include "coordinator/convert/fields.h"
#include "coordinator/core/views/events.h"
#include "job/convert/job_spec.h"
#include "protocol/convert/directory.h"

namespace skerry::coordinator {
namespace {

constexpr size_t kSha256Digits = 64;

uint64_t Milliseconds(absl::Duration duration) {
  return static_cast<uint64_t>(
      std::max<int64_t>(0, absl::ToInt64Milliseconds(duration)));
}

void SeatToProto(const SeatView& seat, v1::SeatView* out) {
  out->set_worker(seat.worker);
  out->set_state(seat.state);
  out->set_error(seat.error);
  out->set_trainer_trouble(seat.trainer_trouble);
  out->set_applied(seat.applied.value());
  out->set_span_begin(seat.span_begin);
  out->set_span_end(seat.span_end);
  out->set_anchor_hash(seat.anchor_hash);
  out->mutable_anchor_hashes()->Assign(seat.anchor_hashes.begin(),
                                       seat.anchor_hashes.end());
  out->set_owed_norm(seat.owed_norm);
  out->set_sent_bytes(seat.counters.bulk_sent_bytes);
  out->set_received_bytes(seat.counters.bulk_received_bytes);
  out->set_compute_s(seat.counters.compute_s);
  out->set_stall_s(seat.counters.stall_s);
}

void ExchangeToProto(const ExchangeView& view, v1::ExchangeView* out) {
  out->set_fragment(view.fragment.value());
  out->set_sequence(view.sequence.value());
  out->set_attempt(view.attempt.value());
  out->set_open(view.open);
  out->set_hops(view.hops);
  out->set_elements(view.elements);
  out->set_reason(view.reason);
  for (const ExchangeView::Member& member : view.members) {
    v1::ExchangeMemberView* one = out->add_members();
    one->set_replica(member.replica.value());
    one->set_codec(member.codec);
    one->set_result_codec(member.result_codec);
    one->set_encoded_bytes(member.encoded_bytes);
    one->set_lateness(member.lateness);
    one->set_samples(member.samples);
  }
}

void ModelToProto(const ModelPlace& place, v1::ModelPlace* out) {
  out->set_sequence(place.sequence.value());
  for (const std::string& worker : place.workers) out->add_workers(worker);
  out->set_kept_ms(Milliseconds(place.kept));
  out->set_keep_ended_bytes(place.keep_ended_bytes);
}

void CountersToProto(const JobCounters& counters, v1::JobCounters* out) {
  out->set_bulk_sent_bytes(counters.bulk_sent_bytes);
  out->set_synchronous_bytes(counters.synchronous_bytes);
  out->set_compute_s(counters.compute_s);
  out->set_stall_s(counters.stall_s);
  out->set_commits(counters.commits);
  out->set_attempts(counters.attempts);
  out->set_contributions_dropped(counters.contributions_dropped);
  out->set_lives(counters.lives);
  out->set_tokens_per_s(counters.tokens_per_s);
  if (counters.goodput.has_value()) out->set_goodput(*counters.goodput);
  out->set_samples_per_s(counters.samples_per_s);
}

v1::Condition::Kind KindToProto(ConditionKind kind) {
  switch (kind) {
    case ConditionKind::kDiverged:
      return v1::Condition::KIND_DIVERGED;
    case ConditionKind::kPaused:
      return v1::Condition::KIND_PAUSED;
    case ConditionKind::kQueued:
      return v1::Condition::KIND_QUEUED;
    case ConditionKind::kTooFewWorkers:
      return v1::Condition::KIND_TOO_FEW_WORKERS;
    case ConditionKind::kStarting:
      return v1::Condition::KIND_STARTING;
    case ConditionKind::kRecovering:
      return v1::Condition::KIND_RECOVERING;
    case ConditionKind::kWorkerTrouble:
      return v1::Condition::KIND_WORKER_TROUBLE;
    case ConditionKind::kDraining:
      return v1::Condition::KIND_DRAINING;
    case ConditionKind::kSilent:
      return v1::Condition::KIND_SILENT;
    case ConditionKind::kSpansLost:
      return v1::Condition::KIND_SPANS_LOST;
    case ConditionKind::kTooFewReplicas:
      return v1::Condition::KIND_TOO_FEW_REPLICAS;
    case ConditionKind::kAwaitsJoiner:
      return v1::Condition::KIND_AWAITS_JOINER;
    case ConditionKind::kExchangeFails:
      return v1::Condition::KIND_EXCHANGE_FAILS;
    case ConditionKind::kNoEvaluator:
      return v1::Condition::KIND_NO_EVALUATOR;
    case ConditionKind::kCheckpointFolder:
      return v1::Condition::KIND_CHECKPOINT_FOLDER;
    case ConditionKind::kCheckpointFails:
      return v1::Condition::KIND_CHECKPOINT_FAILS;
  }
  return v1::Condition::KIND_UNSPECIFIED;
}

void PlaceToProto(size_t position, size_t length, v1::QueuePlace* out) {
  out->set_position(static_cast<uint32_t>(position));
  out->set_length(static_cast<uint32_t>(length));
}

}  // namespace

void JobViewToProto(const JobView& view, v1::JobView* out) {
  out->Clear();
  out->set_id(view.id.value());
  job::JobSpecToProto(view.spec, out->mutable_spec());
  out->set_phase(view.diverged ? v1::JOB_PHASE_DIVERGED
                 : view.paused ? v1::JOB_PHASE_PAUSED
                               : PhaseToProto(view.phase));
  out->set_reason(view.reason);
  out->set_age_ms(Milliseconds(view.age));
  out->set_sequence(view.sequence.value());
  out->set_samples_committed(view.samples_committed);
  out->set_samples_total(view.samples_total);
  out->set_tokens_per_sample(view.tokens_per_sample);
  out->set_parameters(view.parameters);
  for (const LossPoint& loss : view.losses) {
    v1::LossPoint* one = out->add_losses();
    one->set_sequence(loss.sequence.value());
    one->set_samples(loss.samples);
    if (loss.training_loss.has_value()) {
      one->set_training_loss(*loss.training_loss);
    }
    if (loss.validation_loss.has_value()) {
      one->set_validation_loss(*loss.validation_loss);
    }
  }
  for (const ReplicaView& replica : view.replicas) {
    v1::ReplicaView* one = out->add_replicas();
    one->set_replica(replica.replica.value());
    one->set_life(replica.life.value());
    one->set_island(replica.island);
    for (const SeatView& seat : replica.seats) {
      SeatToProto(seat, one->add_seats());
    }
    one->set_suspected(replica.suspected);
  }
  CountersToProto(view.counters, out->mutable_counters());
  out->set_revision(view.revision.value());
  out->set_open_attempt(view.open_attempt.value());
  out->set_open_tries(view.open_tries);
  if (view.queue_position > 0) {
    PlaceToProto(view.queue_position, view.queue_length, out->mutable_queue());
  }
  out->set_checkpoint(view.checkpoint.value());
  out->set_samples_partly(view.samples_partly);
  out->set_own_share(view.own_share);
  out->set_late_steps(view.late_steps);
  for (const Condition& condition : view.conditions) {
    v1::Condition* one = out->add_conditions();
    one->set_kind(KindToProto(condition.kind));
    one->set_text(condition.text);
    one->set_needs_help(condition.needs_help);
  }
  if (view.validation_samples.has_value()) {
    out->set_validation_samples(*view.validation_samples);
  }
  if (view.model.has_value()) ModelToProto(*view.model, out->mutable_model());
  if (view.exchange.has_value()) {
    ExchangeToProto(*view.exchange, out->mutable_exchange());
  }
  for (const CheckpointView& checkpoint : view.checkpoints) {
    v1::CheckpointView* one = out->add_checkpoints();
    one->set_sequence(checkpoint.sequence.value());
    one->set_worker(checkpoint.worker);
    one->set_bytes(checkpoint.bytes);
  }
  for (const auto& [name, value] : view.metrics) {
    (*out->mutable_metrics())[name] = value;
  }
  out->set_program_sha256(view.program_sha256);
}

absl::StatusOr<std::optional<Checkpointed>> RestoreChoiceFromProto(
    const v1::RestoreJobRequest& request) {
  if (request.to_case() == v1::RestoreJobRequest::kWorkers) {
    return std::optional<Checkpointed>();
  }
  if (request.to_case() != v1::RestoreJobRequest::kCheckpoint) {
    return BadField("to", "is missing: workers, or a checkpoint");
  }
  const v1::SavedState& state = request.checkpoint();
  if (state.sequence() == 0 || state.sha256().size() != kSha256Digits) {
    return BadField("checkpoint", "has no sequence, or no SHA-256");
  }
  Checkpointed saved;
  saved.sequence = Sequence(state.sequence());
  saved.worker = "operator";
  saved.sha256 = state.sha256();
  saved.bytes = state.bytes();
  SKERRY_ASSIGN_OR_RETURN(saved.consumed,
                          RangeSetFromProto(state.consumed(), job::kRangesMax,
                                            "checkpoint.consumed"));
  SKERRY_ASSIGN_OR_RETURN(saved.lacking,
                          RangeSetsFromProto(state.lacking(), job::kRangesMax,
                                             "checkpoint.lacking"));
  return std::optional<Checkpointed>(std::move(saved));
}

namespace {

void ReachToProto(const WorkerView& view, v1::WorkerView* out) {
  out->set_found_hidden(view.found_hidden);
  for (const std::string& address : view.more_addresses) {
    out->add_more_addresses(address);
  }
  for (const WorkerView::TriedBy& tried : view.tried_by) {
    v1::TriedBy* one = out->add_tried_by();
    one->set_worker(tried.worker);
    one->set_island(tried.island);
    one->set_round_trip_ms(tried.round_trip_ms);
    one->set_error(tried.error);
  }
}

}  // namespace

void WorkerViewToProto(const WorkerView& view, v1::WorkerView* out) {
  out->Clear();
  out->set_worker(view.worker);
  out->set_island(view.island);
  out->set_address(view.address);
  out->set_incarnation(view.incarnation.value());
  out->set_state(view.state);
  out->set_silence_ms(Milliseconds(view.silence));
  for (const std::string& job : view.jobs) out->add_jobs(job);
  out->set_release(view.release);
  out->set_intent(IntentToProto(view.intent));
  out->set_lease_ms(Milliseconds(view.lease));
  out->mutable_machine()->set_unix_ms(view.machine.unix_ms);
  out->mutable_machine()->set_state_free_bytes(view.machine.state_free_bytes);
  out->mutable_machine()->set_state_bytes(view.machine.state_bytes);
  out->mutable_machine()->set_memory_bytes(view.machine.memory_bytes);
  if (view.machine.clock_ahead_ms.has_value()) {
    out->set_clock_ahead_ms(*view.machine.clock_ahead_ms);
  }
  if (view.contender.has_value()) {
    out->mutable_contender()->set_address(view.contender->address);
    out->mutable_contender()->set_age_ms(Milliseconds(view.contender->age));
  }
  for (const WorkerView::Unserved& unserved : view.unserved) {
    v1::WorkerView::Unserved* one = out->add_unserved();
    one->set_job(unserved.job);
    one->set_reason(unserved.reason);
  }
  out->set_drain_reason(view.drain_reason);
  out->set_apart(view.apart);
  out->set_reached(view.reached);
  for (const std::string& name : view.unreached_by) {
    out->add_unreached_by(name);
  }
  for (const auto& [peer, relay] : view.relayed) {
    (*out->mutable_relayed())[peer] = relay;
  }
  out->set_relay(view.relay);
  out->set_relayed_pairs(view.relayed_pairs);
  ReachToProto(view, out);
  for (const protocol::ProgramFact& program : view.programs) {
    v1::WorkerView::Program* one = out->add_programs();
    one->set_name(program.name);
    one->set_sha256(program.sha256);
  }
  for (const LinkView& link : view.links) {
    v1::LinkView* one = out->add_links();
    one->set_worker(link.worker);
    one->set_bytes_per_s(link.bytes_per_s);
    one->set_round_trip_s(link.round_trip_s);
  }
  for (const StoredJobView& stored : view.stored_jobs) {
    v1::StoredJobView* one = out->add_stored_jobs();
    one->set_job(stored.key.job.value());
    one->set_uid(stored.key.uid);
    one->set_bytes(stored.bytes);
    one->set_state(stored.state);
    one->set_name(stored.name);
  }
}

void JobPlanToProto(const JobPlan& plan, v1::PlanJobReply* out) {
  out->Clear();
  job::JobSpecToProto(plan.spec, out->mutable_spec());
  for (const std::string& warning : plan.warnings) out->add_warnings(warning);
  out->set_starts(plan.starts);
  out->set_reason(plan.reason);
  for (const PlannedReplica& replica : plan.replicas) {
    v1::PlannedReplica* one = out->add_replicas();
    one->set_island(replica.island);
    for (const PlannedSeat& seat : replica.seats) {
      v1::PlannedSeat* added = one->add_seats();
      added->set_worker(seat.worker);
      added->set_span_begin(seat.span_begin);
      added->set_span_end(seat.span_end);
      added->set_elements(seat.elements);
      added->set_host_bytes(seat.host_bytes);
    }
  }
  for (const LeftOutWorker& left : plan.left_out) {
    v1::LeftOutWorker* one = out->add_left_out();
    one->set_worker(left.worker);
    one->set_island(left.island);
    one->set_reason(left.reason);
  }
  if (plan.queue_position > 0) {
    PlaceToProto(plan.queue_position, plan.queue_length, out->mutable_queue());
  }
  out->set_data_pending(plan.data_pending);
  if (!plan.exchange.has_value()) return;
  const PlannedExchange& from = *plan.exchange;
  v1::PlannedExchange* exchange = out->mutable_exchange();
  exchange->set_members(from.members);
  exchange->set_hops(from.hops);
  exchange->set_reason(from.reason);
  exchange->set_codec(from.codec);
  exchange->set_model_bytes(from.model_bytes);
  exchange->set_sent_bytes_each(from.sent_bytes_each);
  exchange->set_samples_per_round(from.samples_per_round);
  exchange->set_rounds(from.rounds);
  exchange->set_seconds(from.seconds);
}

void EventToProto(const EventView& event, absl::Duration age, v1::Event* out) {
  out->Clear();
  out->set_revision(event.revision.value());
  out->set_job(event.job.value());
  out->set_name(event.name);
  out->set_message(event.message);
  out->set_worker(event.worker);
  out->set_routine(IsRoutine(event));
  out->set_age_ms(Milliseconds(age));
}

void StateViewToProto(const StateView& view, v1::StateView* out) {
  out->Clear();
  out->set_job(view.id.value());
  job::JobSpecToProto(view.spec, out->mutable_spec());
  out->set_sequence(view.sequence.value());
  out->set_samples_committed(view.samples_committed);
  out->set_parameters(view.element_count);
  for (const StatePiece& piece : view.pieces) {
    PieceToProto(piece, view.directory, out->add_pieces());
  }
  RangeSetToProto(view.consumed, out->mutable_consumed());
  for (const Sequence sequence : view.fragment_sequences) {
    out->add_fragment_sequences(sequence.value());
  }
  protocol::DirectoryToProto(view.directory, out->mutable_directory());
}

void AuditReportToProto(const AuditReport& report, v1::AuditDataReply* out) {
  out->Clear();
  out->set_samples_total(report.samples_total);
  out->set_samples_committed(report.samples_committed);
  out->set_commits(report.commits);
  out->set_contributions(report.contributions);
  RangeSetToProto(report.missing, out->mutable_missing());
  RangeSetToProto(report.doubled, out->mutable_doubled());
  out->set_samples_returned(report.samples_returned);
  out->set_samples_partly(report.samples_partly);
  out->set_fragments(report.fragments);
}

}  // namespace skerry::coordinator
