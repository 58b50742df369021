#include "coordinator/core/state/job_state.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/status.h"
#include "coordinator/core/state/layout.h"
#include "job/needs.h"

namespace skerry::coordinator {
namespace {

data::RangeSet NamedByOpen(const JobState& job) {
  data::RangeSet named;
  for (const RoundMachine& machine : job.fragments) {
    named = named.Union(machine.NamedRanges());
  }
  return named;
}

absl::StatusOr<RoundMachine*> MachineOf(JobState& job, FragmentId fragment) {
  if (fragment.value() >= job.fragments.size()) {
    return absl::DataLossError(absl::StrCat(
        "job ", job.id.value(), " has no fragment ", fragment.value()));
  }
  return &job.fragments[fragment.value()];
}

// One overload a record. `index` is the number that the record creates.
absl::Status Fold(JobState& job, Revision, const JobEnded& record) {
  if (job.Ended()) return absl::DataLossError("a job ends twice");
  job.phase = record.phase;
  job.end_reason = record.reason;
  return absl::OkStatus();
}

absl::Status Fold(JobState& job, Revision, const JobPaused& record) {
  if (job.Ended() || job.paused == record.paused) {
    return absl::DataLossError(record.paused ? "a job is paused that is already"
                                             : "a job goes on that was not "
                                               "paused");
  }
  job.paused = record.paused;
  return absl::OkStatus();
}

absl::Status Fold(JobState& job, Revision, const JobSized& record) {
  // A program's job that begins with the values of another trainer.
  if (job.Sized() && job.spec.model.program.has_value() &&
      record.element_count == job.element_count &&
      record.layout_hash == job.layout_hash &&
      record.average_begin == job.average_begin &&
      job.replicas.current().empty()) {
    job.initial_hash = record.initial_hash;
    return absl::OkStatus();
  }
  if (job.Sized() || record.element_count == 0) {
    return absl::DataLossError("a job is sized twice, or to nothing");
  }
  job.element_count = record.element_count;
  job.epoch_samples = record.epoch_samples;
  job.flops_per_sample = record.flops_per_sample;
  job.validation_samples = record.validation_samples;
  job.initial_hash = record.initial_hash;
  job.layout_hash = record.layout_hash;
  job.program_sha256 = record.program_sha256;
  job.average_begin = record.average_begin;
  job.span_count = SpanCount(record.element_count, job.spec.exchange.spans,
                             FragmentCount(job.spec), record.average_begin);
  return absl::OkStatus();
}

absl::Status Fold(JobState& job, Revision index,
                  const ReplicaAdmitted& record) {
  SKERRY_RETURN_IF_ERROR(job.replicas.Apply(Life(index.value()), record));
  if (job.phase == JobPhase::kPending) job.phase = JobPhase::kRunning;
  return absl::OkStatus();
}

absl::Status Fold(JobState& job, Revision, const ReplicaEnded& record) {
  SKERRY_RETURN_IF_ERROR(job.replicas.Apply(record));
  job.ledger.End(record.life, NamedByOpen(job));
  for (RoundMachine& machine : job.fragments) machine.Apply(record);
  return absl::OkStatus();
}

absl::Status Fold(JobState& job, Revision index, const Planned&) {
  job.epoch = Epoch(index.value());
  return absl::OkStatus();
}

absl::Status Fold(JobState& job, Revision, const Granted& record) {
  return job.ledger.Grant(record.life, record.ranges);
}

absl::Status Fold(JobState& job, Revision index, const Opened& record) {
  SKERRY_ASSIGN_OR_RETURN(RoundMachine * machine,
                          MachineOf(job, record.fragment));
  SKERRY_RETURN_IF_ERROR(machine->Apply(Attempt(index.value()), record));
  job.ledger.KeepNamed(NamedByOpen(job));
  return absl::OkStatus();
}

absl::Status Fold(JobState& job, Revision, const Dropped& record) {
  SKERRY_ASSIGN_OR_RETURN(RoundMachine * machine,
                          MachineOf(job, record.fragment));
  SKERRY_RETURN_IF_ERROR(machine->Apply(record));
  return job.ledger.Return(record.life, record.fragment, record.ranges);
}

absl::Status Fold(JobState& job, Revision, const Committed& record) {
  SKERRY_ASSIGN_OR_RETURN(RoundMachine * machine,
                          MachineOf(job, record.fragment));
  if (!machine->open().has_value()) {
    return absl::DataLossError("a commit without an open attempt");
  }
  for (const Member& member : machine->open()->opened.members) {
    SKERRY_RETURN_IF_ERROR(job.ledger.Consume(member.life, record.fragment,
                                              member.contribution.ranges));
  }
  job.coverage.Commit(record.fragment, record.sequence, machine->NamedRanges());
  const uint64_t samples = job.coverage.Of(record.fragment).total();
  const uint64_t state = job.fragments.size() > 1 ? job.State().value() + 1 : 0;
  SKERRY_RETURN_IF_ERROR(machine->Apply(record, samples, state));
  job.ledger.KeepNamed(NamedByOpen(job));
  return absl::OkStatus();
}

absl::Status Fold(JobState& job, Revision, const Evaluated& record) {
  job.evaluations[record.sequence] = record;
  return absl::OkStatus();
}

absl::Status Fold(JobState& job, Revision, const Checkpointed& record) {
  if (!record.error.empty()) {
    if (record.error != kSaverLost) job.save_failure = record;
    return absl::OkStatus();
  }
  // What an operator goes back to may be of a history that is lost.
  if (job.diverged.has_value()) {
    std::erase_if(job.checkpoints, [&](const Checkpointed& one) {
      return one.sequence >= record.sequence;
    });
  }
  const bool newer = job.checkpoints.empty() ||
                     job.checkpoints.back().sequence < record.sequence;
  const bool known = job.diverged.has_value() || record.sequence <= job.State();
  if (!job.spec.checkpoint.has_value() || !newer || !known ||
      record.lacking.size() !=
          (job.fragments.size() > 1 ? job.fragments.size() : 0)) {
    return absl::DataLossError(
        "a checkpoint is saved that the job does not have");
  }
  job.save_failure.reset();
  job.checkpoints.push_back(record);
  const size_t keep = job.spec.checkpoint->keep;
  if (job.checkpoints.size() <= keep) return absl::OkStatus();
  const size_t old = job.checkpoints.size() - keep;
  std::vector<Checkpointed> kept;
  for (size_t i = 0; i < job.checkpoints.size(); ++i) {
    const bool pinned = job.restored.has_value() &&
                        job.restored->checkpoint == job.checkpoints[i].sequence;
    if (i >= old || pinned) kept.push_back(std::move(job.checkpoints[i]));
  }
  job.checkpoints = std::move(kept);
  return absl::OkStatus();
}

// By fragment, at which a job goes on that goes back.
absl::StatusOr<std::vector<Sequence>> NextSequences(const JobState& job,
                                                    const Restored& record) {
  std::vector<Sequence> sequences = record.fragment_sequences;
  if (sequences.empty()) {
    for (const RoundMachine& machine : job.fragments) {
      sequences.push_back(Next(machine.newest()));
    }
  }
  uint64_t state = 0;
  bool rises = sequences.size() == job.fragments.size();
  for (size_t f = 0; rises && f < sequences.size(); ++f) {
    rises = sequences[f] > job.fragments[f].newest();
    state += sequences[f].value();
  }
  if (!rises || record.sequence != Sequence(state)) {
    return absl::DataLossError(
        absl::StrCat("the job goes back as sequence ", record.sequence.value(),
                     " when ", job.State().value(), " is the newest"));
  }
  return sequences;
}

absl::Status Fold(JobState& job, Revision, const Restored& record) {
  // Before the first checkpoint, to where the job began.
  const bool to_beginning =
      !record.checkpoint.is_set() && job.checkpoints.empty();
  const Checkpointed beginning = job.Beginning();
  const Checkpointed* from =
      to_beginning ? &beginning : job.FindCheckpoint(record.checkpoint);
  if (from == nullptr || !job.replicas.current().empty()) {
    return absl::DataLossError(
        "a job goes back to a checkpoint that it does not have, or while it "
        "has replicas");
  }
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Sequence> sequences,
                          NextSequences(job, record));
  const uint64_t state = record.sequence.value();
  const data::RangeSet consumed(from->consumed);
  std::vector<data::RangeSet> covered(job.fragments.size(), consumed);
  for (size_t f = 0; f < from->lacking.size(); ++f) {
    covered[f] = consumed.Subtract(from->lacking[f]);
  }
  for (size_t f = 0; f < job.fragments.size(); ++f) {
    job.fragments[f].GoOnAt(sequences[f], covered[f].total(),
                            job.fragments.size() > 1 ? state : 0);
    job.keep_from[f] = job.fragments[f].floor();
  }
  job.ledger.GoBack(consumed);
  job.coverage.GoBack(std::move(covered));
  job.restored = record;
  job.restored->fragment_sequences = sequences;
  if (record.initial_hash != 0) job.initial_hash = record.initial_hash;
  job.diverged.reset();
  return absl::OkStatus();
}

absl::Status Fold(JobState& job, Revision, const Diverged& record) {
  if (job.Ended() || job.diverged.has_value() ||
      !job.replicas.current().empty()) {
    return absl::DataLossError(
        "a job stands that has ended, stands already, or has replicas");
  }
  job.diverged = record;
  return absl::OkStatus();
}

absl::Status Fold(JobState& job, Revision at, const Adopted& record) {
  const size_t attempts = record.fragment_attempts.size();
  if (!job.diverged.has_value() || !job.replicas.current().empty() ||
      record.fragment_sequences.size() != job.fragments.size() ||
      (attempts > 0 && attempts != job.fragments.size())) {
    return absl::DataLossError(
        "workers' state is adopted for a job that does not stand");
  }
  uint64_t state = 0;
  std::vector<data::RangeSet> covered;
  for (size_t f = 0; f < job.fragments.size(); ++f) {
    if (record.fragment_sequences[f] < job.fragments[f].newest()) {
      return absl::DataLossError("a state is adopted that is not the newest");
    }
    state += record.fragment_sequences[f].value();
    covered.push_back(job.coverage.Of(FragmentId(f)));
  }
  for (size_t f = 0; f < job.fragments.size(); ++f) {
    job.fragments[f].GoOnAt(record.fragment_sequences[f], covered[f].total(),
                            job.fragments.size() > 1 ? state : 0);
    job.keep_from[f] = job.fragments[f].floor();
  }
  job.ledger.GoBack(data::RangeSet(job.ledger.consumed()));
  job.coverage.GoBack(std::move(covered));
  job.diverged.reset();
  job.adopted_at = at;
  job.adopted = record;
  return absl::OkStatus();
}

absl::Status Fold(JobState&, Revision, const SeatNoted&) {
  return absl::OkStatus();
}

absl::Status Fold(JobState& job, Revision, const Counted& record) {
  SeatCounters& before = job.counted[record.worker];
  AddGrowth(before, record.counters, job.totals);
  before = record.counters;
  return absl::OkStatus();
}

template <typename T>
void AddOne(T before, T now, T& total) {
  total += now >= before ? now - before : now;
}

}  // namespace

void AddGrowth(const SeatCounters& before, const SeatCounters& now,
               SeatCounters& totals) {
  AddOne(before.bulk_sent_bytes, now.bulk_sent_bytes, totals.bulk_sent_bytes);
  AddOne(before.bulk_received_bytes, now.bulk_received_bytes,
         totals.bulk_received_bytes);
  AddOne(before.compute_s, now.compute_s, totals.compute_s);
  AddOne(before.stall_s, now.stall_s, totals.stall_s);
  AddOne(before.samples, now.samples, totals.samples);
  AddOne(before.rounds, now.rounds, totals.rounds);
  AddOne(before.trainer_restarts, now.trainer_restarts,
         totals.trainer_restarts);
}

Checkpointed JobState::Beginning() const {
  Checkpointed beginning;
  beginning.job = id;
  beginning.consumed = ConsumedBefore(spec);
  return beginning;
}

const Checkpointed* JobState::FindCheckpoint(Sequence sequence) const {
  for (const Checkpointed& one : checkpoints) {
    if (one.sequence == sequence) return &one;
  }
  return nullptr;
}

JobState::JobState(JobId id, const JobSubmitted& record,
                   const ClusterOptions& options)
    : id(id),
      spec(record.spec),
      idempotency_key(record.idempotency_key),
      memory_needed(job::NeedsOf(record.spec).worker_bytes),
      ledger(record.spec.training.samples, ConsumedBefore(record.spec),
             FragmentCount(record.spec)),
      audit(id, record.spec.training.samples, ConsumedBefore(record.spec),
            FragmentCount(record.spec)),
      coverage(ConsumedBefore(record.spec), FragmentCount(record.spec)) {
  samples_at_start = ledger.consumed().total();
  for (uint32_t f = 0; f < FragmentCount(record.spec); ++f) {
    fragments.emplace_back(FragmentId(f));
    timers.emplace_back(options);
    keep_from.emplace_back();
    anchors.emplace_back();
  }
}

Sequence JobState::State() const {
  uint64_t sum = 0;
  for (const RoundMachine& machine : fragments) {
    sum += machine.newest().value();
  }
  return Sequence(sum);
}

Sequence JobState::Floor() const {
  uint64_t sum = 0;
  for (const RoundMachine& machine : fragments) sum += machine.floor().value();
  return std::max(Sequence(sum),
                  restored.has_value() ? restored->sequence : Sequence());
}

bool JobState::Trained() const {
  if (!ledger.AllConsumed()) return false;
  for (const RoundMachine& machine : fragments) {
    if (machine.open().has_value()) return false;
  }
  return !ledger.AnyDue();
}

const Seat* JobState::SeatOf(std::string_view worker,
                             Incarnation incarnation) const {
  const auto it = seats.find(worker);
  return it == seats.end() || it->second.incarnation != incarnation
             ? nullptr
             : &it->second;
}

absl::Status ApplyToJob(JobState& job, const Entry& entry) {
  job.audit.Add(entry);
  return std::visit(
      [&](const auto& record) -> absl::Status {
        using T = std::decay_t<decltype(record)>;
        if constexpr (std::is_same_v<T, JobSubmitted> ||
                      std::is_same_v<T, WorkerAdmitted> ||
                      std::is_same_v<T, WorkerLeft> ||
                      std::is_same_v<T, WorkerMarked> ||
                      std::is_same_v<T, NumbersRaised> ||
                      std::is_same_v<T, JoinChanged> ||
                      std::is_same_v<T, JobDeleted>) {
          return absl::DataLossError("not a record of a job");
        } else {
          return Fold(job, entry.index, record);
        }
      },
      entry.record);
}

void EndLife(JobState& job, const Decider& decider, Life life,
             std::string reason) {
  decider.emit(ReplicaEnded{job.id, life, std::move(reason)});
  job.draining.erase(life);
  job.places_stale = true;
  for (RoundTimers& timers : job.timers) timers.OnEnded(life);
}

void EndLives(JobState& job, const Decider& decider, const std::string& why) {
  std::vector<Life> lives;
  for (const auto& [life, replica] : job.replicas.current()) {
    lives.push_back(life);
  }
  for (const Life life : lives) EndLife(job, decider, life, why);
}

uint64_t UidOf(const JobState& job) {
  return CombineHash(Hash64(std::as_bytes(std::span(job.idempotency_key))),
                     job.id.value());
}

const Replica* CurrentReplicaOf(const JobState& job, std::string_view worker,
                                Incarnation incarnation) {
  const Replica* replica = job.replicas.FindWorker(worker);
  if (replica == nullptr) return nullptr;
  const int rank = replica->RankOf(worker);
  return replica->incarnations[rank] == incarnation ? replica : nullptr;
}

uint64_t ElementsOf(const JobState& job, size_t fragment) {
  uint64_t elements = 0;
  for (const uint64_t span : SpanElements(
           job.element_count, job.spec.exchange.spans, FragmentCount(job.spec),
           job.average_begin, static_cast<uint32_t>(fragment))) {
    elements += span;
  }
  return elements;
}

bool IsSuspected(const Replica& replica, const WorkerTable& workers) {
  for (const SpanHolder& holder : replica.holders) {
    const Worker* worker = workers.FindCurrent(holder.peer.worker);
    if (worker == nullptr || worker->suspected) return true;
  }
  return false;
}

const FragmentFacts* FactsInLife(const JobState& job, const Replica& replica,
                                 size_t rank, FragmentId fragment) {
  const Seat* seat =
      job.SeatOf(replica.holders[rank].peer.worker, replica.incarnations[rank]);
  if (seat == nullptr || seat->facts.life != replica.life) return nullptr;
  for (const FragmentFacts& facts : seat->facts.fragments) {
    if (facts.fragment == fragment) return &facts;
  }
  return nullptr;
}

}  // namespace skerry::coordinator
