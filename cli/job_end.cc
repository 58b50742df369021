#include "cli/job_end.h"

namespace skerry::cli {

bool HasEnded(v1::JobPhase phase) {
  return phase == v1::JOB_PHASE_SUCCEEDED || phase == v1::JOB_PHASE_FAILED ||
         phase == v1::JOB_PHASE_CANCELLED;
}

ExitCode ExitCodeOf(const v1::JobView& job) {
  if (job.phase() == v1::JOB_PHASE_FAILED) return ExitCode::kJobFailed;
  if (job.phase() == v1::JOB_PHASE_CANCELLED) return ExitCode::kJobCancelled;
  if (job.phase() != v1::JOB_PHASE_SUCCEEDED) return ExitCode::kOk;
  for (const v1::Condition& condition : job.conditions()) {
    if (condition.kind() == v1::Condition::KIND_CHECKPOINT_FAILS) {
      return ExitCode::kNotSaved;
    }
  }
  return ExitCode::kOk;
}

void SayNotSaved(const v1::JobView& job, const Output& output) {
  for (const v1::Condition& condition : job.conditions()) {
    if (condition.kind() != v1::Condition::KIND_CHECKPOINT_FAILS) continue;
    output.err << "skerryctl: job " << job.spec().name()
               << " has succeeded, and its last state is in no checkpoint: "
               << condition.text() << "\n";
  }
}

}  // namespace skerry::cli
