#include "coordinator/core/state/job_snapshot.h"

#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "coordinator/core/state/layout.h"

namespace skerry::coordinator {
namespace {

void HashCounters(const SeatCounters& counters, StateHasher& hasher) {
  hasher.Add(counters.bulk_sent_bytes);
  hasher.Add(counters.bulk_received_bytes);
  hasher.Add(counters.compute_s);
  hasher.Add(counters.stall_s);
  hasher.Add(counters.samples);
  hasher.Add(counters.rounds);
  hasher.Add(counters.trainer_restarts);
}

// Nothing for journals of releases that had none of these.
void HashNewer(const JobState& job, StateHasher& hasher) {
  if (job.validation_samples.has_value()) {
    hasher.Add(std::string_view("validation"));
    hasher.Add(*job.validation_samples);
  }
  if (job.initial_hash != 0 || job.layout_hash != 0) {
    hasher.Add(std::string_view("values"));
    hasher.Add(job.initial_hash);
    hasher.Add(job.layout_hash);
  }
  if (job.average_begin != 0) {
    hasher.Add(std::string_view("average"));
    hasher.Add(job.average_begin);
  }
  if (!job.program_sha256.empty()) {
    hasher.Add(std::string_view("program"));
    hasher.Add(std::string_view(job.program_sha256));
  }
  for (const Checkpointed& one : job.checkpoints) {
    hasher.Add(std::string_view("checkpoint"));
    hasher.Add(one.sequence);
    hasher.Add(std::string_view(one.sha256));
    hasher.Add(one.consumed);
    for (const auto& lacking : one.lacking) {
      hasher.Add(lacking);
    }
  }
  if (job.restored.has_value()) {
    hasher.Add(std::string_view("restored"));
    hasher.Add(job.restored->sequence);
    hasher.Add(job.restored->checkpoint);
  }
  if (job.diverged.has_value()) {
    hasher.Add(std::string_view("diverged"));
    hasher.Add(std::string_view(job.diverged->worker));
    hasher.Add(std::string_view(job.diverged->reason));
  }
  if (job.adopted_at.is_set()) {
    hasher.Add(std::string_view("adopted"));
    hasher.Add(job.adopted_at);
  }
  if (job.adopted.has_value()) {
    for (const Sequence at : job.adopted->fragment_sequences) hasher.Add(at);
    for (const Attempt by : job.adopted->fragment_attempts) hasher.Add(by);
  }
  for (const auto& [worker, counters] : job.counted) {
    hasher.Add(std::string_view("counted"));
    hasher.Add(std::string_view(worker));
    HashCounters(counters, hasher);
  }
  if (!job.counted.empty()) HashCounters(job.totals, hasher);
  job.coverage.HashInto(hasher);
}

}  // namespace

JobSnapshot SaveJob(const JobState& job) {
  JobSnapshot saved;
  static_cast<JobLog&>(saved) = job;
  saved.job = job.id;
  saved.submitted = {job.spec, job.idempotency_key};
  saved.replicas = job.replicas.Save();
  saved.ledger = job.ledger.Save();
  for (const RoundMachine& machine : job.fragments) {
    saved.fragments.push_back(machine.Save());
  }
  saved.audit = job.audit.Save();
  saved.coverage = job.coverage.Save();
  return saved;
}

absl::Status RestoreJob(JobState& job, const JobSnapshot& saved) {
  static_cast<JobLog&>(job) = saved;
  if (saved.element_count > 0) {
    job.span_count = SpanCount(saved.element_count, job.spec.exchange.spans,
                               FragmentCount(job.spec), saved.average_begin);
  }
  SKERRY_RETURN_IF_ERROR(job.replicas.Restore(saved.replicas));
  SKERRY_RETURN_IF_ERROR(job.ledger.Restore(saved.ledger));
  if (saved.fragments.size() != job.fragments.size()) {
    return absl::DataLossError(absl::StrCat("it has ", saved.fragments.size(),
                                            " fragments instead of ",
                                            job.fragments.size()));
  }
  for (size_t i = 0; i < job.fragments.size(); ++i) {
    SKERRY_RETURN_IF_ERROR(job.fragments[i].Restore(saved.fragments[i]));
  }
  job.audit.Restore(saved.audit);
  for (const Checkpointed& one : job.checkpoints) job.audit.Add({{}, one});
  for (size_t f = 0; f < job.fragments.size(); ++f) {
    job.keep_from[f] = job.fragments[f].floor();
  }
  // As releases before this field left it; what workers hold was never adopted
  // then.
  if (job.restored.has_value() && job.restored->fragment_sequences.empty()) {
    job.restored->fragment_sequences = job.keep_from;
  }
  SKERRY_RETURN_IF_ERROR(
      job.coverage.Restore(saved.coverage, job.ledger.consumed()));
  return absl::OkStatus();
}

void HashInto(const JobState& job, StateHasher& hasher) {
  hasher.Add(job.id);
  hasher.Add(std::string_view(job.spec.name));
  hasher.Add(std::string_view(job.idempotency_key));
  hasher.Add(static_cast<uint64_t>(job.phase));
  hasher.Add(std::string_view(job.end_reason));
  // Nothing otherwise, as in journals of releases that knew no pause.
  if (job.paused) hasher.Add(std::string_view("paused"));
  hasher.Add(job.element_count);
  hasher.Add(job.epoch_samples);
  hasher.Add(job.flops_per_sample);
  hasher.Add(uint64_t{job.span_count});
  hasher.Add(job.epoch);
  job.replicas.HashInto(hasher);
  job.ledger.HashInto(hasher);
  for (const RoundMachine& machine : job.fragments) machine.HashInto(hasher);
  hasher.Add(uint64_t{job.evaluations.size()});
  for (const auto& [sequence, evaluated] : job.evaluations) {
    hasher.Add(sequence);
    hasher.Add(evaluated.loss);
    hasher.Add(evaluated.samples);
  }
  HashNewer(job, hasher);
}

}  // namespace skerry::coordinator
