#include "cli/commands/watch.h"

#include <optional>
#include <ostream>

#include "absl/time/time.h"
#include "base/status.h"
#include "cli/job_end.h"
#include "cli/json.h"
#include "cli/views.h"

namespace skerry::cli {

absl::StatusOr<ExitCode> WatchJob(const JobArguments& arguments, Client& client,
                                  const Output& output) {
  const bool json = output.form == OutputForm::kJson;
  const auto line = [&output](const v1::JobView& job) {
    return output.form == OutputForm::kWide ? WideProgressLine(job)
                                            : ProgressLine(job);
  };
  std::optional<v1::JobView> shown;
  v1::JobView newest;
  const auto show = [&](const v1::JobView& job) {
    newest = job;
    const bool differs =
        !shown.has_value() || (json ? JsonLine(*shown) != JsonLine(job)
                                    : ProgressDiffers(*shown, job));
    if (!differs) return true;
    output.out << (json ? JsonLine(job) : line(job) + "\n") << std::flush;
    shown = job;
    return true;
  };
  SKERRY_RETURN_IF_ERROR(
      client.Watch(arguments.name, absl::InfiniteDuration(), show));
  if (ExitCodeOf(newest) == ExitCode::kNotSaved) SayNotSaved(newest, output);
  return ExitCodeOf(newest);
}

Command WatchJobCommand() {
  return MakeCommand<JobArguments>({.words = "watch job",
                                    .about = "progress until the job ends",
                                    .prints = Prints::kProgress,
                                    .add_options = AddJob,
                                    .run = WatchJob});
}

}  // namespace skerry::cli
