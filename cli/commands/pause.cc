#include "cli/commands/pause.h"

#include <ostream>

#include "base/status.h"
#include "cli/job_words.h"
#include "cli/print_change.h"
#include "cli/shared_options.h"

namespace skerry::cli {
namespace {

absl::Status PauseJob(const JobArguments& arguments, Client& client,
                      const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.Pause(arguments.name));
  PrintChange(job, arguments.name, PhaseText(job.phase()), output);
  output.err << "rounds that run are finished and delivered; go on with: "
                "skerryctl resume "
             << arguments.name << "\n";
  return absl::OkStatus();
}

absl::Status ResumeJob(const JobArguments& arguments, Client& client,
                       const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.Resume(arguments.name));
  PrintChange(job, arguments.name, PhaseText(job.phase()), output);
  return absl::OkStatus();
}

}  // namespace

Command PauseCommand() {
  return MakeCommand<JobArguments>(
      {.words = "pause",
       .about = "holds a job; its state stays where it is",
       .prints = Prints::kChange,
       .add_options = AddJob,
       .run = PauseJob});
}

Command ResumeCommand() {
  return MakeCommand<JobArguments>({.words = "resume",
                                    .about = "lets a paused job go on",
                                    .prints = Prints::kChange,
                                    .add_options = AddJob,
                                    .run = ResumeJob});
}

}  // namespace skerry::cli
