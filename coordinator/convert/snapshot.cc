#include "coordinator/convert/snapshot.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "coordinator/convert/fields.h"
#include "coordinator/convert/join.h"
#include "coordinator/convert/journal.h"

namespace skerry::coordinator {
namespace {

using protocol::kAnyNumber;

// A record as one field of a snapshot: it is checked as in the journal.
template <typename T, typename Proto>
absl::StatusOr<T> RecordPart(const Proto& part,
                             Proto* (v1::JournalRecord::*field)()) {
  v1::JournalRecord record;
  *(record.*field)() = part;
  SKERRY_ASSIGN_OR_RETURN(Record read, RecordFromProto(record));
  return std::get<T>(std::move(read));
}

absl::StatusOr<data::RangeSet> RangesOfField(const RangesProto& ranges,
                                             absl::string_view field) {
  return RangeSetFromProto(ranges, kAnyNumber, field);
}

void WorkerToProto(const WorkerSnapshot& worker, v1::WorkerSnapshot* out) {
  PeerToProto(worker.self, out->mutable_self());
  out->set_island(worker.island);
  out->set_release(worker.release);
  out->set_boot(worker.boot.value());
  out->set_incarnation(worker.incarnation.value());
  out->set_left(worker.left);
  for (const Boot boot : worker.former) out->add_former(boot.value());
  out->set_intent(IntentToProto(worker.intent));
  out->set_folder(worker.folder.value());
  out->set_process(worker.process.value());
}

absl::StatusOr<WorkerSnapshot> WorkerFromProto(const v1::WorkerSnapshot& p) {
  WorkerSnapshot worker;
  SKERRY_ASSIGN_OR_RETURN(worker.self,
                          protocol::PeerFromProto(p.self(), "self"));
  worker.island = p.island();
  worker.release = p.release();
  worker.boot = Boot(p.boot());
  worker.incarnation = Incarnation(p.incarnation());
  worker.left = p.left();
  for (const uint64_t boot : p.former()) worker.former.emplace_back(boot);
  worker.folder = FolderId(p.folder());
  worker.process = Boot(p.process());
  if (p.intent() != v1::WORKER_INTENT_UNSPECIFIED) {
    SKERRY_ASSIGN_OR_RETURN(worker.intent,
                            IntentFromProto(p.intent(), "intent"));
  }
  return worker;
}

void ReplicasToProto(const JobSnapshot& job, v1::JobSnapshot* out) {
  for (const ReplicaSnapshot& replica : job.replicas.current) {
    v1::ReplicaSnapshot* one = out->add_replicas();
    one->set_life(replica.life.value());
    *one->mutable_admitted() =
        RecordToProto(ReplicaAdmitted{job.job, replica.replica, replica.island,
                                      replica.holders, replica.incarnations})
            .replica_admitted();
  }
  for (const auto& [island, replica] : job.replicas.numbers) {
    v1::JobSnapshot::IslandReplica* one = out->add_island_replicas();
    one->set_island(island);
    one->set_replica(replica.value());
  }
  out->set_lives(job.replicas.lives);
}

absl::StatusOr<ReplicaTableSnapshot> ReplicasFromProto(
    const v1::JobSnapshot& p) {
  ReplicaTableSnapshot out;
  for (const v1::ReplicaSnapshot& one : p.replicas()) {
    SKERRY_ASSIGN_OR_RETURN(
        ReplicaAdmitted admitted,
        RecordPart<ReplicaAdmitted>(
            one.admitted(), &v1::JournalRecord::mutable_replica_admitted));
    out.current.push_back(
        {Life(one.life()), admitted.replica, std::move(admitted.island),
         std::move(admitted.holders), std::move(admitted.incarnations)});
  }
  for (const v1::JobSnapshot::IslandReplica& one : p.island_replicas()) {
    out.numbers.emplace_back(one.island(), ReplicaId(one.replica()));
  }
  out.lives = p.lives();
  return out;
}

void LedgerToProto(const LedgerSnapshot& ledger, v1::LedgerSnapshot* out) {
  RangeSetToProto(ledger.free, out->mutable_free());
  RangeSetToProto(ledger.consumed, out->mutable_consumed());
  for (const HoldingSnapshot& holding : ledger.holdings) {
    v1::LedgerSnapshot::Holding* one = out->add_holdings();
    one->set_life(holding.life.value());
    RangeSetToProto(holding.leased, one->mutable_leased());
    RangeSetToProto(holding.dropped, one->mutable_dropped());
    one->set_ended(holding.ended);
    RangeSetsToProto(holding.due, one->mutable_due());
    RangeSetsToProto(holding.missed, one->mutable_missed());
  }
}

absl::StatusOr<LedgerSnapshot> LedgerFromProto(const v1::LedgerSnapshot& p) {
  LedgerSnapshot out;
  SKERRY_ASSIGN_OR_RETURN(out.free, RangesOfField(p.free(), "free"));
  SKERRY_ASSIGN_OR_RETURN(out.consumed,
                          RangesOfField(p.consumed(), "consumed"));
  for (const v1::LedgerSnapshot::Holding& one : p.holdings()) {
    HoldingSnapshot holding;
    holding.life = Life(one.life());
    SKERRY_ASSIGN_OR_RETURN(holding.leased,
                            RangesOfField(one.leased(), "leased"));
    SKERRY_ASSIGN_OR_RETURN(holding.dropped,
                            RangesOfField(one.dropped(), "dropped"));
    holding.ended = one.ended();
    SKERRY_ASSIGN_OR_RETURN(holding.due,
                            RangeSetsFromProto(one.due(), kAnyNumber, "due"));
    SKERRY_ASSIGN_OR_RETURN(
        holding.missed, RangeSetsFromProto(one.missed(), kAnyNumber, "missed"));
    out.holdings.push_back(std::move(holding));
  }
  return out;
}

void FragmentToProto(const FragmentSnapshot& fragment,
                     v1::FragmentSnapshot* out) {
  out->set_fragment(static_cast<uint32_t>(fragment.fragment.value()));
  for (const CommittedEntry& entry : fragment.history) {
    CommittedToProto(entry, out->add_history());
  }
  if (fragment.open.has_value()) {
    out->set_attempt(fragment.open->first.value());
    *out->mutable_open() = RecordToProto(fragment.open->second).opened();
  }
  out->set_tries(fragment.tries);
  out->set_repeated_members(fragment.repeated_members);
  for (const ReplicaId replica : fragment.blamed) {
    out->add_blamed(replica.value());
  }
  for (const auto& [life, outcome] : fragment.outcomes) {
    v1::FragmentSnapshot::LifeOutcome* one = out->add_outcomes();
    one->set_life(life.value());
    OutcomeToProto(outcome, one->mutable_outcome());
  }
  for (const Life life : fragment.ended_members) {
    out->add_ended_members(life.value());
  }
  out->set_attempts_total(fragment.attempts_total);
  out->set_dropped_total(fragment.dropped_total);
}

absl::StatusOr<Outcome> DecidedFromProto(const v1::Outcome& p) {
  SKERRY_ASSIGN_OR_RETURN(const Outcome out,
                          protocol::OutcomeFromProto(p, "outcome"));
  if (out.kind == Outcome::Kind::kPending) {
    return BadField("outcome", "is not decided");
  }
  return out;
}

absl::StatusOr<FragmentSnapshot> FragmentFromProto(
    const v1::FragmentSnapshot& p) {
  FragmentSnapshot out;
  out.fragment = FragmentId(p.fragment());
  for (const v1::CommittedEntry& entry : p.history()) {
    SKERRY_ASSIGN_OR_RETURN(CommittedEntry one,
                            protocol::CommittedFromProto(entry, "history"));
    out.history.push_back(std::move(one));
  }
  if (p.has_open()) {
    SKERRY_ASSIGN_OR_RETURN(
        Opened opened,
        RecordPart<Opened>(p.open(), &v1::JournalRecord::mutable_opened));
    out.open.emplace(Attempt(p.attempt()), std::move(opened));
  }
  out.tries = p.tries();
  out.repeated_members = p.repeated_members();
  for (const uint64_t replica : p.blamed()) out.blamed.emplace_back(replica);
  for (const v1::FragmentSnapshot::LifeOutcome& one : p.outcomes()) {
    SKERRY_ASSIGN_OR_RETURN(const Outcome outcome,
                            DecidedFromProto(one.outcome()));
    out.outcomes.emplace_back(Life(one.life()), outcome);
  }
  for (const uint64_t life : p.ended_members()) {
    out.ended_members.emplace_back(life);
  }
  out.attempts_total = p.attempts_total();
  out.dropped_total = p.dropped_total();
  return out;
}

void AuditToProto(const AuditSnapshot& audit, v1::AuditSnapshot* out) {
  for (const AuditSnapshot::Open& open : audit.open) {
    v1::AuditSnapshot::Open* one = out->add_open();
    one->set_fragment(static_cast<uint32_t>(open.fragment.value()));
    one->set_attempt(open.attempt.value());
    one->set_contributions(open.contributions);
    for (const data::RangeSet& ranges : open.ranges) {
      RangeSetToProto(ranges, one->add_ranges()->mutable_ranges());
    }
  }
  for (const auto& [fragment, ranges] : audit.committed) {
    v1::AuditSnapshot::Committed* one = out->add_committed();
    one->set_fragment(static_cast<uint32_t>(fragment.value()));
    RangeSetToProto(ranges, one->mutable_ranges());
  }
  RangeSetToProto(audit.doubled, out->mutable_doubled());
  RangeSetToProto(audit.ever_granted, out->mutable_ever_granted());
  out->set_samples_returned(audit.samples_returned);
  out->set_commits(audit.commits);
  out->set_contributions(audit.contributions);
}

absl::StatusOr<AuditSnapshot> AuditFromProto(const v1::AuditSnapshot& p) {
  AuditSnapshot out;
  for (const v1::AuditSnapshot::Open& open : p.open()) {
    AuditSnapshot::Open one{FragmentId(open.fragment()),
                            Attempt(open.attempt()),
                            open.contributions(),
                            {}};
    for (const v1::AuditSnapshot::Ranges& ranges : open.ranges()) {
      SKERRY_ASSIGN_OR_RETURN(data::RangeSet some,
                              RangesOfField(ranges.ranges(), "open"));
      one.ranges.push_back(std::move(some));
    }
    out.open.push_back(std::move(one));
  }
  for (const v1::AuditSnapshot::Committed& one : p.committed()) {
    SKERRY_ASSIGN_OR_RETURN(data::RangeSet ranges,
                            RangesOfField(one.ranges(), "committed"));
    out.committed.emplace_back(FragmentId(one.fragment()), std::move(ranges));
  }
  SKERRY_ASSIGN_OR_RETURN(out.doubled, RangesOfField(p.doubled(), "doubled"));
  SKERRY_ASSIGN_OR_RETURN(out.ever_granted,
                          RangesOfField(p.ever_granted(), "ever_granted"));
  out.samples_returned = p.samples_returned();
  out.commits = p.commits();
  out.contributions = p.contributions();
  return out;
}

// What snapshots of older releases do not have.
void NewerToProto(const JobSnapshot& job, v1::JobSnapshot* out) {
  for (const Checkpointed& one : job.checkpoints) {
    *out->add_checkpoints() = RecordToProto(one).checkpointed();
  }
  if (job.save_failure.has_value()) {
    *out->mutable_save_failure() =
        RecordToProto(*job.save_failure).checkpointed();
  }
  if (job.restored.has_value()) {
    *out->mutable_restored() = RecordToProto(*job.restored).restored();
  }
  if (job.diverged.has_value()) {
    *out->mutable_diverged() = RecordToProto(*job.diverged).diverged();
  }
  out->set_adopted_at(job.adopted_at.value());
  if (job.adopted.has_value()) {
    *out->mutable_adopted() = RecordToProto(*job.adopted).adopted();
  }
  RangeSetsToProto(job.coverage.covered, out->mutable_covered());
  for (const CoverageSnapshot::Taken& taken : job.coverage.taken) {
    v1::JobSnapshot::Taken* one = out->add_taken();
    one->set_fragment(static_cast<uint32_t>(taken.fragment.value()));
    one->set_sequence(taken.sequence.value());
    RangeSetToProto(taken.ranges, one->mutable_ranges());
  }
  for (const auto& [worker, counters] : job.counted) {
    *out->add_counted() =
        RecordToProto(Counted{job.job, worker, counters}).counted();
  }
  CountersToProto(job.totals, out->mutable_totals());
}

absl::Status NewerFromProto(const v1::JobSnapshot& p, JobSnapshot* out) {
  for (const v1::Checkpointed& one : p.checkpoints()) {
    SKERRY_ASSIGN_OR_RETURN(Checkpointed saved,
                            RecordPart<Checkpointed>(
                                one, &v1::JournalRecord::mutable_checkpointed));
    out->checkpoints.push_back(std::move(saved));
  }
  if (p.has_save_failure()) {
    SKERRY_ASSIGN_OR_RETURN(
        out->save_failure,
        RecordPart<Checkpointed>(p.save_failure(),
                                 &v1::JournalRecord::mutable_checkpointed));
  }
  if (p.has_restored()) {
    SKERRY_ASSIGN_OR_RETURN(
        out->restored, RecordPart<Restored>(
                           p.restored(), &v1::JournalRecord::mutable_restored));
  }
  if (p.has_diverged()) {
    SKERRY_ASSIGN_OR_RETURN(
        out->diverged, RecordPart<Diverged>(
                           p.diverged(), &v1::JournalRecord::mutable_diverged));
  }
  out->adopted_at = Revision(p.adopted_at());
  if (p.has_adopted()) {
    SKERRY_ASSIGN_OR_RETURN(
        out->adopted,
        RecordPart<Adopted>(p.adopted(), &v1::JournalRecord::mutable_adopted));
  }
  SKERRY_ASSIGN_OR_RETURN(
      out->coverage.covered,
      RangeSetsFromProto(p.covered(), kAnyNumber, "covered"));
  for (const v1::JobSnapshot::Taken& one : p.taken()) {
    SKERRY_ASSIGN_OR_RETURN(data::RangeSet ranges,
                            RangesOfField(one.ranges(), "taken"));
    out->coverage.taken.push_back({FragmentId(one.fragment()),
                                   Sequence(one.sequence()),
                                   std::move(ranges)});
  }
  for (const v1::Counted& one : p.counted()) {
    SKERRY_ASSIGN_OR_RETURN(
        Counted counted,
        RecordPart<Counted>(one, &v1::JournalRecord::mutable_counted));
    out->counted.emplace(std::move(counted.worker), counted.counters);
  }
  SKERRY_ASSIGN_OR_RETURN(out->totals,
                          protocol::CountersFromProto(p.totals(), "totals"));
  return absl::OkStatus();
}

void JobToProto(const JobSnapshot& job, v1::JobSnapshot* out) {
  out->set_job(job.job.value());
  *out->mutable_submitted() = RecordToProto(job.submitted).job_submitted();
  out->set_phase(PhaseToProto(job.phase));
  out->set_end_reason(job.end_reason);
  out->set_paused(job.paused);
  out->set_element_count(job.element_count);
  out->set_epoch_samples(job.epoch_samples);
  out->set_flops_per_sample(job.flops_per_sample);
  if (job.validation_samples.has_value()) {
    out->set_validation_samples(*job.validation_samples);
  }
  out->set_initial_hash(job.initial_hash);
  out->set_layout_hash(job.layout_hash);
  out->set_average_begin(job.average_begin);
  out->set_program_sha256(job.program_sha256);
  out->set_epoch(job.epoch.value());
  ReplicasToProto(job, out);
  LedgerToProto(job.ledger, out->mutable_ledger());
  for (const FragmentSnapshot& fragment : job.fragments) {
    FragmentToProto(fragment, out->add_fragments());
  }
  for (const auto& [sequence, evaluated] : job.evaluations) {
    *out->add_evaluations() = RecordToProto(evaluated).evaluated();
  }
  AuditToProto(job.audit, out->mutable_audit());
  NewerToProto(job, out);
}

absl::StatusOr<JobSnapshot> JobFromProto(const v1::JobSnapshot& p) {
  JobSnapshot out;
  out.job = JobId(p.job());
  SKERRY_ASSIGN_OR_RETURN(
      out.submitted,
      RecordPart<JobSubmitted>(p.submitted(),
                               &v1::JournalRecord::mutable_job_submitted));
  SKERRY_ASSIGN_OR_RETURN(out.phase,
                          protocol::PhaseFromProto(p.phase(), "phase"));
  out.end_reason = p.end_reason();
  out.paused = p.paused();
  out.element_count = p.element_count();
  out.epoch_samples = p.epoch_samples();
  out.flops_per_sample = p.flops_per_sample();
  if (p.has_validation_samples()) {
    out.validation_samples = p.validation_samples();
  }
  out.initial_hash = p.initial_hash();
  out.layout_hash = p.layout_hash();
  out.average_begin = p.average_begin();
  out.program_sha256 = p.program_sha256();
  out.epoch = Epoch(p.epoch());
  SKERRY_ASSIGN_OR_RETURN(out.replicas, ReplicasFromProto(p));
  SKERRY_ASSIGN_OR_RETURN(out.ledger, LedgerFromProto(p.ledger()));
  for (const v1::FragmentSnapshot& fragment : p.fragments()) {
    SKERRY_ASSIGN_OR_RETURN(FragmentSnapshot one, FragmentFromProto(fragment));
    out.fragments.push_back(std::move(one));
  }
  for (const v1::Evaluated& evaluated : p.evaluations()) {
    SKERRY_ASSIGN_OR_RETURN(
        Evaluated one, RecordPart<Evaluated>(
                           evaluated, &v1::JournalRecord::mutable_evaluated));
    out.evaluations.emplace(one.sequence, one);
  }
  SKERRY_ASSIGN_OR_RETURN(out.audit, AuditFromProto(p.audit()));
  SKERRY_RETURN_IF_ERROR(NewerFromProto(p, &out));
  return out;
}

absl::StatusOr<ClusterSnapshot> StateFromProto(const v1::JournalSnapshot& p) {
  ClusterSnapshot out{Revision(p.revision()), p.state_hash(), {}, {}, {}};
  for (const v1::WorkerSnapshot& worker : p.workers()) {
    SKERRY_ASSIGN_OR_RETURN(WorkerSnapshot one, WorkerFromProto(worker));
    out.workers.push_back(std::move(one));
  }
  for (const v1::JobSnapshot& job : p.jobs()) {
    SKERRY_ASSIGN_OR_RETURN(JobSnapshot one, JobFromProto(job));
    out.jobs.push_back(std::move(one));
  }
  for (const v1::GoneJob& gone : p.gone_jobs()) {
    out.gone_jobs.push_back({JobId(gone.job()), gone.uid(), gone.deleted()});
  }
  out.joins = JoinsFromProto(p);
  return out;
}

}  // namespace

v1::JournalSnapshot SnapshotToProto(const ClusterSnapshot& state,
                                    const EventHistory& events) {
  v1::JournalSnapshot out;
  out.set_revision(state.revision.value());
  out.set_state_hash(state.state_hash);
  for (const WorkerSnapshot& worker : state.workers) {
    WorkerToProto(worker, out.add_workers());
  }
  for (const JobSnapshot& job : state.jobs) JobToProto(job, out.add_jobs());
  for (const GoneJob& gone : state.gone_jobs) {
    v1::GoneJob* one = out.add_gone_jobs();
    one->set_job(gone.job.value());
    one->set_uid(gone.uid);
    one->set_deleted(gone.deleted);
  }
  JoinsToProto(state.joins, &out);
  for (const EventView& event : events.events) {
    v1::EventSnapshot* one = out.add_events();
    one->set_revision(event.revision.value());
    one->set_job(event.job.value());
    one->set_name(event.name);
    one->set_message(event.message);
    one->set_worker(event.worker);
  }
  for (const auto& [job, revision] : events.ended) {
    v1::JournalSnapshot::Ended* one = out.add_ended();
    one->set_job(job.value());
    one->set_revision(revision.value());
  }
  return out;
}

absl::StatusOr<ClusterSnapshot> SnapshotFromProto(
    const v1::JournalSnapshot& snapshot) {
  absl::StatusOr<ClusterSnapshot> out = StateFromProto(snapshot);
  if (out.ok()) return out;
  return absl::DataLossError(
      absl::StrCat("journal snapshot: ", out.status().message()));
}

EventHistory EventsFromProto(const v1::JournalSnapshot& snapshot) {
  EventHistory out;
  for (const v1::EventSnapshot& one : snapshot.events()) {
    out.events.push_back({Revision(one.revision()), JobId(one.job()),
                          one.name(), one.message(), one.worker()});
  }
  for (const v1::JournalSnapshot::Ended& one : snapshot.ended()) {
    out.ended.emplace_back(JobId(one.job()), Revision(one.revision()));
  }
  return out;
}

}  // namespace skerry::coordinator
