#include "cli/commands/submit.h"

#include <CLI/CLI.hpp>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/commands/detach.h"
#include "cli/commands/plan.h"
#include "cli/commands/watch.h"
#include "cli/job_file.h"
#include "cli/json.h"
#include "cli/print_change.h"
#include "cli/shared_options.h"

namespace skerry::cli {
namespace {

struct SubmitArguments {
  std::string file;
  // submit: watches the job as well.
  bool follow = false;
};

// Workers look at the data set first, so that the coordinator can refuse a job
// that none of them can serve. What it says of the plan, it says of the job.
absl::StatusOr<v1::SubmitJobReply> Send(Client& client, const JobFile& job,
                                        bool apply) {
  v1::PlanJobRequest request;
  *request.mutable_spec() = job.spec;
  const absl::Status planned = PlanWithData(client, request).status();
  if (absl::IsUnavailable(planned)) return planned;
  absl::StatusOr<v1::SubmitJobReply> reply = client.Submit(job.spec, apply);
  if (!reply.ok()) return job.places.Locate(reply.status());
  return reply;
}

// Returns the name of the job.
absl::StatusOr<std::string> SubmitJob(const std::string& file, Client& client,
                                      const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const JobFile job, ReadJobFile(file));
  SKERRY_ASSIGN_OR_RETURN(const v1::SubmitJobReply reply,
                          Send(client, job, false));
  for (const std::string& warning : reply.warnings()) {
    output.err << "warning: " << warning << "\n";
  }
  const std::string& name = reply.job().spec().name();
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(reply.job());
  } else {
    output.out << name << "\n";
  }
  output.err << "accepted as job " << reply.job().id()
             << "; follow it with: skerryctl watch job " << name << "\n";
  return name;
}

absl::StatusOr<ExitCode> Submit(const SubmitArguments& arguments,
                                Client& client, const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const std::string name,
                          SubmitJob(arguments.file, client, output));
  if (!arguments.follow) return ExitCode::kOk;
  output.out << std::flush;
  DetachOnInterrupt(name);
  return WatchJob({name}, client, output);
}

absl::Status Apply(const SubmitArguments& arguments, Client& client,
                   const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const JobFile job, ReadJobFile(arguments.file));
  SKERRY_ASSIGN_OR_RETURN(const v1::SubmitJobReply reply,
                          Send(client, job, true));
  for (const std::string& warning : reply.warnings()) {
    output.err << "warning: " << warning << "\n";
  }
  PrintChange(reply.job(), reply.job().spec().name(),
              reply.unchanged() ? "unchanged" : "submitted", output);
  return absl::OkStatus();
}

void AddApplyOptions(CLI::App& app, SubmitArguments& wanted) {
  AddJobFile(app, wanted.file);
}

void AddSubmitOptions(CLI::App& app, SubmitArguments& wanted) {
  AddJobFile(app, wanted.file);
  app.add_flag("--follow", wanted.follow,
               "watch it until it ends; an interrupt leaves it alone");
}

}  // namespace

Command SubmitCommand() {
  return MakeCommand<SubmitArguments>({.words = "submit",
                                       .about = "starts a job",
                                       .prints = Prints::kChange,
                                       .add_options = AddSubmitOptions,
                                       .run = Submit});
}

Command ApplyCommand() {
  return MakeCommand<SubmitArguments>(
      {.words = "apply",
       .about = "starts a job unless it is there",
       .prints = Prints::kChange,
       .add_options = AddApplyOptions,
       .run = Apply});
}

}  // namespace skerry::cli
