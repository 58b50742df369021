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
    hasher.Add(std::span<const data::SampleRange>(one.consumed));
    for (const auto& lacking : one.lacking) {
      hasher.Add(std::span<const data::SampleRange>(lacking));
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
  saved.job = job.id;
  saved.submitted = {job.spec, job.idempotency_key};
  saved.phase = job.phase;
  saved.end_reason = job.end_reason;
  saved.paused = job.paused;
  saved.element_count = job.element_count;
  saved.epoch_samples = job.epoch_samples;
  saved.flops_per_sample = job.flops_per_sample;
  saved.validation_samples = job.validation_samples;
  saved.initial_hash = job.initial_hash;
  saved.layout_hash = job.layout_hash;
  saved.average_begin = job.average_begin;
  saved.program_sha256 = job.program_sha256;
  saved.epoch = job.epoch;
  saved.replicas = job.replicas.Save();
  saved.ledger = job.ledger.Save();
  for (const RoundMachine& machine : job.fragments) {
    saved.fragments.push_back(machine.Save());
  }
  for (const auto& [sequence, evaluated] : job.evaluations) {
    saved.evaluations.push_back(evaluated);
  }
  saved.audit = job.audit.Save();
  saved.checkpoints = job.checkpoints;
  saved.save_failure = job.save_failure;
  saved.restored = job.restored;
  saved.diverged = job.diverged;
  saved.adopted_at = job.adopted_at;
  saved.coverage = job.coverage.Save();
  saved.counted.assign(job.counted.begin(), job.counted.end());
  saved.totals = job.totals;
  return saved;
}

absl::Status RestoreJob(JobState& job, const JobSnapshot& saved) {
  job.phase = saved.phase;
  job.end_reason = saved.end_reason;
  job.paused = saved.paused;
  job.element_count = saved.element_count;
  job.epoch_samples = saved.epoch_samples;
  job.flops_per_sample = saved.flops_per_sample;
  job.validation_samples = saved.validation_samples;
  job.initial_hash = saved.initial_hash;
  job.layout_hash = saved.layout_hash;
  job.average_begin = saved.average_begin;
  job.program_sha256 = saved.program_sha256;
  if (saved.element_count > 0) {
    job.span_count = SpanCount(saved.element_count, job.spec.exchange.spans,
                               FragmentCount(job.spec), saved.average_begin);
  }
  job.epoch = saved.epoch;
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
  for (const Evaluated& evaluated : saved.evaluations) {
    job.evaluations[evaluated.sequence] = evaluated;
  }
  job.audit.Restore(saved.audit);
  job.checkpoints = saved.checkpoints;
  job.save_failure = saved.save_failure;
  for (const Checkpointed& one : job.checkpoints) job.audit.Add({{}, one});
  job.restored = saved.restored;
  job.diverged = saved.diverged;
  job.adopted_at = saved.adopted_at;
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
  job.counted.insert(saved.counted.begin(), saved.counted.end());
  job.totals = saved.totals;
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
