#include "cli/commands/end_job.h"

#include <CLI/CLI.hpp>

#include "base/status.h"
#include "cli/confirm.h"
#include "cli/job_words.h"
#include "cli/print_change.h"
#include "cli/shared_options.h"

namespace skerry::cli {
namespace {

absl::Status CancelJob(const EndJobArguments& arguments, Client& client,
                       const Output& output) {
  SKERRY_RETURN_IF_ERROR(
      Confirm("cancel job " + arguments.name, arguments.sure, output));
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.Cancel(arguments.name));
  PrintChange(job, arguments.name, PhaseText(job.phase()), output);
  return absl::OkStatus();
}

absl::Status DeleteJob(const EndJobArguments& arguments, Client& client,
                       const Output& output) {
  SKERRY_RETURN_IF_ERROR(
      Confirm("delete job " + arguments.name, arguments.sure, output));
  SKERRY_ASSIGN_OR_RETURN(const v1::JobView job, client.Delete(arguments.name));
  PrintChange(job, arguments.name, "deleted", output);
  return absl::OkStatus();
}

void AddOptions(CLI::App& app, EndJobArguments& wanted) {
  AddJobName(app, wanted.name);
  AddYes(app, wanted.sure);
}

}  // namespace

Command CancelCommand() {
  return MakeCommand<EndJobArguments>({.words = "cancel",
                                       .about = "ends a job",
                                       .prints = Prints::kChange,
                                       .add_options = AddOptions,
                                       .run = CancelJob});
}

Command DeleteJobCommand() {
  return MakeCommand<EndJobArguments>({.words = "delete job",
                                       .about = "a job that has ended",
                                       .prints = Prints::kChange,
                                       .add_options = AddOptions,
                                       .run = DeleteJob});
}

}  // namespace skerry::cli
