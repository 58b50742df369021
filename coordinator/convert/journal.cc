#include "coordinator/convert/journal.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "coordinator/convert/fields.h"
#include "coordinator/convert/join.h"
#include "job/convert/job_spec.h"

namespace skerry::coordinator {
namespace {

using protocol::kAnyNumber;

template <typename Repeated>
absl::StatusOr<std::vector<SpanHolder>> HoldersFromProto(
    const Repeated& holders) {
  std::vector<SpanHolder> out;
  for (const v1::SpanHolder& holder : holders) {
    SKERRY_ASSIGN_OR_RETURN(SpanHolder one,
                            protocol::HolderFromProto(holder, "holders"));
    out.push_back(std::move(one));
  }
  return out;
}

void ToProto(const JobSubmitted& r, v1::JournalRecord* out) {
  v1::JobSubmitted* p = out->mutable_job_submitted();
  job::JobSpecToProto(r.spec, p->mutable_spec());
  p->set_idempotency_key(r.idempotency_key);
}

absl::StatusOr<Record> FromProto(const v1::JobSubmitted& p) {
  SKERRY_ASSIGN_OR_RETURN(job::JobSpec spec, job::JobSpecFromProto(p.spec()));
  return JobSubmitted{std::move(spec), p.idempotency_key()};
}

void ToProto(const JobEnded& r, v1::JournalRecord* out) {
  v1::JobEnded* p = out->mutable_job_ended();
  p->set_job(r.job.value());
  p->set_phase(PhaseToProto(r.phase));
  p->set_reason(r.reason);
}

absl::StatusOr<Record> FromProto(const v1::JobEnded& p) {
  SKERRY_ASSIGN_OR_RETURN(const JobPhase phase,
                          protocol::PhaseFromProto(p.phase(), "phase"));
  if (phase <= JobPhase::kRunning) return BadField("phase", "is not an end");
  return JobEnded{JobId(p.job()), phase, p.reason()};
}

void ToProto(const JobDeleted& r, v1::JournalRecord* out) {
  out->mutable_job_deleted()->set_job(r.job.value());
}

void ToProto(const JobSized& r, v1::JournalRecord* out) {
  v1::JobSized* p = out->mutable_job_sized();
  p->set_job(r.job.value());
  p->set_element_count(r.element_count);
  p->set_epoch_samples(r.epoch_samples);
  p->set_flops_per_sample(r.flops_per_sample);
  if (r.validation_samples.has_value()) {
    p->set_validation_samples(*r.validation_samples);
  }
  p->set_initial_hash(r.initial_hash);
  p->set_layout_hash(r.layout_hash);
  p->set_program_sha256(r.program_sha256);
  p->set_average_begin(r.average_begin);
}

absl::StatusOr<Record> FromProto(const v1::JobSized& p) {
  JobSized r{JobId(p.job()), p.element_count(), p.epoch_samples(),
             p.flops_per_sample()};
  if (p.has_validation_samples()) {
    r.validation_samples = p.validation_samples();
  }
  r.initial_hash = p.initial_hash();
  r.layout_hash = p.layout_hash();
  r.program_sha256 = p.program_sha256();
  r.average_begin = p.average_begin();
  return r;
}

void ToProto(const JobPaused& r, v1::JournalRecord* out) {
  v1::JobPaused* p = out->mutable_job_paused();
  p->set_job(r.job.value());
  p->set_paused(r.paused);
}

absl::StatusOr<Record> FromProto(const v1::JobPaused& p) {
  return JobPaused{JobId(p.job()), p.paused()};
}

void ToProto(const WorkerAdmitted& r, v1::JournalRecord* out) {
  v1::WorkerAdmitted* p = out->mutable_worker_admitted();
  PeerToProto(r.self, p->mutable_self());
  p->set_boot(r.boot.value());
  p->set_island(r.island);
  p->set_release(r.release);
  p->set_folder(r.folder.value());
  p->set_process(r.process.value());
}

absl::StatusOr<Record> FromProto(const v1::WorkerAdmitted& p) {
  SKERRY_ASSIGN_OR_RETURN(protocol::PeerAddress self,
                          protocol::PeerFromProto(p.self(), "self"));
  return WorkerAdmitted{std::move(self),      Boot(p.boot()),
                        p.island(),           p.release(),
                        FolderId(p.folder()), Boot(p.process())};
}

void ToProto(const WorkerLeft& r, v1::JournalRecord* out) {
  v1::WorkerLeft* p = out->mutable_worker_left();
  p->set_worker(r.worker);
  p->set_incarnation(r.incarnation.value());
  p->set_reason(r.reason);
}

absl::StatusOr<Record> FromProto(const v1::WorkerLeft& p) {
  return WorkerLeft{p.worker(), Incarnation(p.incarnation()), p.reason()};
}

void ToProto(const WorkerMarked& r, v1::JournalRecord* out) {
  v1::WorkerMarked* p = out->mutable_worker_marked();
  p->set_worker(r.worker);
  p->set_intent(IntentToProto(r.intent));
}

absl::StatusOr<Record> FromProto(const v1::WorkerMarked& p) {
  SKERRY_ASSIGN_OR_RETURN(const WorkerIntent intent,
                          IntentFromProto(p.intent(), "intent"));
  return WorkerMarked{p.worker(), intent};
}

void ToProto(const ReplicaAdmitted& r, v1::JournalRecord* out) {
  v1::ReplicaAdmitted* p = out->mutable_replica_admitted();
  p->set_job(r.job.value());
  p->set_replica(r.replica.value());
  p->set_island(r.island);
  for (const SpanHolder& holder : r.holders) {
    HolderToProto(holder, p->add_holders());
  }
  for (const Incarnation incarnation : r.incarnations) {
    p->add_incarnations(incarnation.value());
  }
}

absl::StatusOr<Record> FromProto(const v1::ReplicaAdmitted& p) {
  ReplicaAdmitted r{JobId(p.job()), ReplicaId(p.replica()), p.island(), {}, {}};
  SKERRY_ASSIGN_OR_RETURN(r.holders, HoldersFromProto(p.holders()));
  for (const uint64_t incarnation : p.incarnations()) {
    r.incarnations.emplace_back(incarnation);
  }
  return r;
}

void ToProto(const ReplicaEnded& r, v1::JournalRecord* out) {
  v1::ReplicaEnded* p = out->mutable_replica_ended();
  p->set_job(r.job.value());
  p->set_life(r.life.value());
  p->set_reason(r.reason);
}

absl::StatusOr<Record> FromProto(const v1::ReplicaEnded& p) {
  return ReplicaEnded{JobId(p.job()), Life(p.life()), p.reason()};
}

void ToProto(const Planned& r, v1::JournalRecord* out) {
  v1::Planned* p = out->mutable_planned();
  p->set_job(r.job.value());
  p->set_tau(r.tau);
  p->set_codec(r.codec);
  p->set_reason(r.reason);
}

absl::StatusOr<Record> FromProto(const v1::Planned& p) {
  return Planned{JobId(p.job()), p.tau(), p.codec(), p.reason()};
}

void ToProto(const Granted& r, v1::JournalRecord* out) {
  v1::Granted* p = out->mutable_granted();
  p->set_job(r.job.value());
  p->set_life(r.life.value());
  RangeSetToProto(r.ranges, p->mutable_ranges());
}

absl::StatusOr<Record> FromProto(const v1::Granted& p) {
  Granted r{JobId(p.job()), Life(p.life()), {}};
  SKERRY_ASSIGN_OR_RETURN(r.ranges,
                          RangeSetFromProto(p.ranges(), kAnyNumber, "ranges"));
  return r;
}

void ToProto(const Opened& r, v1::JournalRecord* out) {
  v1::Opened* p = out->mutable_opened();
  p->set_job(r.job.value());
  p->set_fragment(static_cast<uint32_t>(r.fragment.value()));
  p->set_sequence(r.sequence.value());
  for (const Member& member : r.members) {
    MemberToProto(member, p->add_members());
  }
  p->mutable_owners()->Assign(r.owners.begin(), r.owners.end());
  p->set_hops(HopsToProto(r.hops));
  p->set_total_weight(r.total_weight);
  p->set_reason(r.reason);
}

absl::StatusOr<Record> FromProto(const v1::Opened& p) {
  Opened r;
  r.job = JobId(p.job());
  r.fragment = FragmentId(p.fragment());
  r.sequence = Sequence(p.sequence());
  for (const v1::Member& member : p.members()) {
    SKERRY_ASSIGN_OR_RETURN(Member one,
                            protocol::MemberFromProto(member, "members"));
    r.members.push_back(std::move(one));
  }
  r.owners.assign(p.owners().begin(), p.owners().end());
  for (const uint32_t owner : r.owners) {
    if (owner >= r.members.size()) return BadField("owners", "is no member");
  }
  SKERRY_ASSIGN_OR_RETURN(r.hops, protocol::HopsFromProto(p.hops(), "hops"));
  r.total_weight = p.total_weight();
  r.reason = p.reason();
  return r;
}

void ToProto(const Dropped& r, v1::JournalRecord* out) {
  v1::Dropped* p = out->mutable_dropped();
  p->set_job(r.job.value());
  p->set_fragment(static_cast<uint32_t>(r.fragment.value()));
  p->set_life(r.life.value());
  p->set_round(r.round.value());
  p->set_reason(r.reason);
  RangeSetToProto(r.ranges, p->mutable_ranges());
}

absl::StatusOr<Record> FromProto(const v1::Dropped& p) {
  Dropped r{JobId(p.job()), FragmentId(p.fragment()),
            Life(p.life()), Round(p.round()),
            p.reason(),     {}};
  SKERRY_ASSIGN_OR_RETURN(r.ranges,
                          RangeSetFromProto(p.ranges(), kAnyNumber, "ranges"));
  return r;
}

void ToProto(const Committed& r, v1::JournalRecord* out) {
  v1::Committed* p = out->mutable_committed();
  p->set_job(r.job.value());
  p->set_fragment(static_cast<uint32_t>(r.fragment.value()));
  p->set_sequence(r.sequence.value());
  p->set_attempt(r.attempt.value());
  p->mutable_hashes()->Assign(r.hashes.begin(), r.hashes.end());
  p->set_total_weight(r.total_weight);
  ScalarsToProto(r.scalars, p->mutable_scalars());
}

absl::StatusOr<Record> FromProto(const v1::Committed& p) {
  Committed r;
  r.job = JobId(p.job());
  r.fragment = FragmentId(p.fragment());
  r.sequence = Sequence(p.sequence());
  r.attempt = Attempt(p.attempt());
  r.hashes.assign(p.hashes().begin(), p.hashes().end());
  r.total_weight = p.total_weight();
  SKERRY_ASSIGN_OR_RETURN(r.scalars,
                          protocol::ScalarsFromProto(p.scalars(), "scalars"));
  return r;
}

void ToProto(const Evaluated& r, v1::JournalRecord* out) {
  v1::Evaluated* p = out->mutable_evaluated();
  p->set_job(r.job.value());
  p->set_sequence(r.sequence.value());
  p->set_loss(r.loss);
  p->set_samples(r.samples);
}

absl::StatusOr<Record> FromProto(const v1::Evaluated& p) {
  return Evaluated{JobId(p.job()), Sequence(p.sequence()), p.loss(),
                   p.samples()};
}

void ToProto(const Checkpointed& r, v1::JournalRecord* out) {
  v1::Checkpointed* p = out->mutable_checkpointed();
  p->set_job(r.job.value());
  p->set_sequence(r.sequence.value());
  p->set_worker(r.worker);
  p->set_sha256(r.sha256);
  p->set_bytes(r.bytes);
  p->set_error(r.error);
  RangeSetToProto(r.consumed, p->mutable_consumed());
  RangeSetsToProto(r.lacking, p->mutable_lacking());
}

absl::StatusOr<Record> FromProto(const v1::Checkpointed& p) {
  Checkpointed r{JobId(p.job()),
                 Sequence(p.sequence()),
                 p.worker(),
                 p.sha256(),
                 p.bytes(),
                 p.error(),
                 {},
                 {}};
  SKERRY_ASSIGN_OR_RETURN(
      r.consumed, RangeSetFromProto(p.consumed(), kAnyNumber, "consumed"));
  SKERRY_ASSIGN_OR_RETURN(
      r.lacking, RangeSetsFromProto(p.lacking(), kAnyNumber, "lacking"));
  return r;
}

std::vector<Sequence> SequencesFromProto(
    const google::protobuf::RepeatedField<uint64_t>& from) {
  std::vector<Sequence> sequences;
  for (const uint64_t sequence : from) sequences.emplace_back(sequence);
  return sequences;
}

void ToProto(const Restored& r, v1::JournalRecord* out) {
  v1::Restored* p = out->mutable_restored();
  p->set_job(r.job.value());
  p->set_sequence(r.sequence.value());
  p->set_checkpoint(r.checkpoint.value());
  p->set_reason(r.reason);
  for (const Sequence sequence : r.fragment_sequences) {
    p->add_fragment_sequences(sequence.value());
  }
  p->set_initial_hash(r.initial_hash);
}

absl::StatusOr<Record> FromProto(const v1::Restored& p) {
  return Restored{JobId(p.job()),
                  Sequence(p.sequence()),
                  Sequence(p.checkpoint()),
                  p.reason(),
                  SequencesFromProto(p.fragment_sequences()),
                  p.initial_hash()};
}

void ToProto(const Counted& r, v1::JournalRecord* out) {
  v1::Counted* p = out->mutable_counted();
  p->set_job(r.job.value());
  p->set_worker(r.worker);
  CountersToProto(r.counters, p->mutable_counters());
}

absl::StatusOr<Record> FromProto(const v1::Counted& p) {
  SKERRY_ASSIGN_OR_RETURN(
      const SeatCounters counters,
      protocol::CountersFromProto(p.counters(), "counters"));
  return Counted{JobId(p.job()), p.worker(), counters};
}

void ToProto(const NumbersRaised& r, v1::JournalRecord* out) {
  v1::NumbersRaised* p = out->mutable_numbers_raised();
  p->set_worker(r.worker);
  p->set_seen(r.seen.value());
}

absl::StatusOr<Record> FromProto(const v1::NumbersRaised& p) {
  return NumbersRaised{p.worker(), Revision(p.seen())};
}

void ToProto(const Diverged& r, v1::JournalRecord* out) {
  v1::Diverged* p = out->mutable_diverged();
  p->set_job(r.job.value());
  p->set_worker(r.worker);
  p->set_reason(r.reason);
}

absl::StatusOr<Record> FromProto(const v1::Diverged& p) {
  return Diverged{JobId(p.job()), p.worker(), p.reason()};
}

void ToProto(const Adopted& r, v1::JournalRecord* out) {
  v1::Adopted* p = out->mutable_adopted();
  p->set_job(r.job.value());
  for (const Sequence sequence : r.fragment_sequences) {
    p->add_fragment_sequences(sequence.value());
  }
  p->set_reason(r.reason);
  for (const Attempt attempt : r.fragment_attempts) {
    p->add_fragment_attempts(attempt.value());
  }
}

absl::StatusOr<Record> FromProto(const v1::Adopted& p) {
  Adopted record{JobId(p.job()), SequencesFromProto(p.fragment_sequences()),
                 p.reason()};
  for (const uint64_t attempt : p.fragment_attempts()) {
    record.fragment_attempts.emplace_back(attempt);
  }
  return record;
}

void ToProto(const SeatNoted& r, v1::JournalRecord* out) {
  v1::SeatNoted* p = out->mutable_seat_noted();
  p->set_job(r.job.value());
  p->set_worker(r.worker);
  p->set_reason(r.reason);
}

absl::StatusOr<Record> FromProto(const v1::SeatNoted& p) {
  return SeatNoted{JobId(p.job()), p.worker(), p.reason()};
}

void ToProto(const JoinChanged& r, v1::JournalRecord* out) {
  *out->mutable_join_changed() = JoinToProto(r);
}

absl::StatusOr<Record> AnyFromProto(const v1::JournalRecord& p) {
  switch (p.kind_case()) {
    case v1::JournalRecord::kJobSubmitted:
      return FromProto(p.job_submitted());
    case v1::JournalRecord::kJobEnded:
      return FromProto(p.job_ended());
    case v1::JournalRecord::kWorkerAdmitted:
      return FromProto(p.worker_admitted());
    case v1::JournalRecord::kReplicaAdmitted:
      return FromProto(p.replica_admitted());
    case v1::JournalRecord::kReplicaEnded:
      return FromProto(p.replica_ended());
    case v1::JournalRecord::kPlanned:
      return FromProto(p.planned());
    case v1::JournalRecord::kGranted:
      return FromProto(p.granted());
    case v1::JournalRecord::kOpened:
      return FromProto(p.opened());
    case v1::JournalRecord::kDropped:
      return FromProto(p.dropped());
    case v1::JournalRecord::kCommitted:
      return FromProto(p.committed());
    case v1::JournalRecord::kEvaluated:
      return FromProto(p.evaluated());
    case v1::JournalRecord::kWorkerLeft:
      return FromProto(p.worker_left());
    case v1::JournalRecord::kJobSized:
      return FromProto(p.job_sized());
    case v1::JournalRecord::kJobPaused:
      return FromProto(p.job_paused());
    case v1::JournalRecord::kWorkerMarked:
      return FromProto(p.worker_marked());
    case v1::JournalRecord::kJobDeleted:
      return Record(JobDeleted{JobId(p.job_deleted().job())});
    case v1::JournalRecord::kCheckpointed:
      return FromProto(p.checkpointed());
    case v1::JournalRecord::kRestored:
      return FromProto(p.restored());
    case v1::JournalRecord::kCounted:
      return FromProto(p.counted());
    case v1::JournalRecord::kNumbersRaised:
      return FromProto(p.numbers_raised());
    case v1::JournalRecord::kDiverged:
      return FromProto(p.diverged());
    case v1::JournalRecord::kAdopted:
      return FromProto(p.adopted());
    case v1::JournalRecord::kSeatNoted:
      return FromProto(p.seat_noted());
    case v1::JournalRecord::kJoinChanged:
      return JoinFromProto(p.join_changed());
    case v1::JournalRecord::KIND_NOT_SET:
      break;
  }
  return BadField("kind", "is unknown; a newer release wrote it");
}

}  // namespace

v1::JournalRecord RecordToProto(const Record& record) {
  v1::JournalRecord out;
  std::visit([&out](const auto& r) { ToProto(r, &out); }, record);
  return out;
}

absl::StatusOr<Record> RecordFromProto(const v1::JournalRecord& record) {
  absl::StatusOr<Record> out = AnyFromProto(record);
  if (out.ok()) return out;
  return absl::DataLossError(
      absl::StrCat("journal record: ", out.status().message()));
}

}  // namespace skerry::coordinator
