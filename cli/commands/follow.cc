#include "cli/commands/follow.h"

#include <ostream>

#include "base/status.h"
#include "cli/json.h"
#include "cli/views.h"

namespace skerry::cli {

absl::StatusOr<ExitCode> WatchJob(Client& client, const std::string& name,
                                  const Output& output) {
  std::string last;
  v1::JobPhase phase = v1::JOB_PHASE_UNSPECIFIED;
  SKERRY_RETURN_IF_ERROR(client.Watch(name, [&](const v1::JobView& job) {
    phase = job.phase();
    const std::string line = output.form == OutputForm::kJson
                                 ? JsonLine(job)
                                 : ProgressLine(job) + "\n";
    if (line == last) return;
    last = line;
    output.out << line << std::flush;
  }));
  if (phase == v1::JOB_PHASE_FAILED) return ExitCode::kJobFailed;
  if (phase == v1::JOB_PHASE_CANCELLED) return ExitCode::kJobCancelled;
  return ExitCode::kOk;
}

absl::Status ShowEvents(Client& client, const std::string& name, bool follow,
                        const Output& output) {
  return client.StreamEvents(name, follow, [&](const v1::Event& event) {
    output.out << (output.form == OutputForm::kJson ? JsonLine(event)
                                                    : EventLine(event) + "\n")
               << std::flush;
  });
}

}  // namespace skerry::cli
