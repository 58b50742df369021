#include "coordinator/core/state/options.h"

#include "absl/strings/str_cat.h"

namespace skerry::coordinator {

absl::Status ValidateClusterOptions(const ClusterOptions& o) {
  const struct {
    const char* name;
    absl::Duration value;
  } durations[] = {
      {"lease", o.lease},
      {"settle", o.settle},
      {"reconnect_allowance", o.reconnect_allowance},
      {"takeover_wait", o.takeover_wait},
      {"attempt_deadline_min", o.attempt_deadline_min},
      {"final_evaluation_max", o.final_evaluation_max},
      {"checkpoint_max", o.checkpoint_max},
      {"restore_wait", o.restore_wait},
  };
  for (const auto& [name, value] : durations) {
    if (value <= absl::ZeroDuration() || value > absl::Hours(24)) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " has to be above 0 and at most a day"));
    }
  }
  const struct {
    const char* name;
    uint64_t value;
  } bounds[] = {
      {"workers_max", o.workers_max},
      {"jobs_max", o.jobs_max},
      {"finished_jobs_max", o.finished_jobs_max},
      {"seats_max", o.seats_max},
      {"boots_max", o.boots_max},
      {"ready_ranges_max", o.ready_ranges_max},
      {"committed_entries_max", o.committed_entries_max},
      {"sources_max", o.sources_max},
      {"job_workers_named_max", o.job_workers_named_max},
      {"generate_max", o.generate_max},
      {"members_max", o.members_max},
      {"pin_sequences_max", o.pin_sequences_max},
  };
  for (const auto& [name, value] : bounds) {
    if (value == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " has to be at least 1"));
    }
  }
  for (const auto& [owner, jobs] : o.quotas) {
    if (jobs > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the quota of ", owner, " has to be at least 1"));
  }
  return absl::OkStatus();
}

}  // namespace skerry::coordinator
