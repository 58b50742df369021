#include "cli/commands/wait.h"

#include <CLI/CLI.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "cli/find_worker.h"
#include "cli/job_end.h"
#include "cli/job_words.h"
#include "cli/json.h"
#include "cli/poll.h"
#include "cli/shared_options.h"
#include "cli/word_checks.h"

namespace skerry::cli {
namespace {

constexpr absl::Duration kAskInterval = absl::Milliseconds(300);

const std::vector<std::string>& PhasesToWaitFor() {
  static const auto* const phases = new std::vector<std::string>{
      "pending",   "running", "paused",    "diverged",
      "succeeded", "failed",  "cancelled", "ended"};
  return *phases;
}

const std::vector<std::string>& StatesToWaitFor() {
  static const auto* const states = new std::vector<std::string>{
      "connected", "suspected", "lost", "draining", "cordoned", "drained"};
  return *states;
}

bool Reached(const v1::JobView& job, const std::string& until) {
  return PhaseText(job.phase()) == until ||
         (until == "ended" && HasEnded(job.phase()));
}

std::string Because(const std::string& reason) {
  return reason.empty() ? "" : absl::StrCat(": ", reason);
}

absl::StatusOr<ExitCode> WaitJob(const WaitArguments& arguments, Client& client,
                                 const Output& output) {
  v1::JobView last;
  const absl::Status watched = client.Watch(
      arguments.name, arguments.limit, [&](const v1::JobView& job) {
        last = job;
        return !Reached(job, arguments.until) &&
               job.phase() != v1::JOB_PHASE_DIVERGED;
      });
  const std::string phase = PhaseText(last.phase());
  if (absl::IsDeadlineExceeded(watched)) {
    output.err << "skerryctl: job " << arguments.name << " is "
               << (last.id() == 0 ? "not heard of" : phase)
               << Because(last.reason()) << "\n";
    return ExitCode::kTimedOut;
  }
  SKERRY_RETURN_IF_ERROR(watched);
  if (!Reached(last, arguments.until) &&
      last.phase() == v1::JOB_PHASE_DIVERGED) {
    output.err << "skerryctl: job " << arguments.name << " is diverged"
               << Because(last.reason()) << "\n";
    return ExitCode::kConflict;
  }
  if (!Reached(last, arguments.until)) {
    output.err << "skerryctl: job " << arguments.name << " has ended as "
               << phase << Because(last.reason()) << "; it cannot become "
               << arguments.until << "\n";
    const ExitCode code = ExitCodeOf(last);
    return code == ExitCode::kOk ? ExitCode::kConflict : code;
  }
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(last);
  } else {
    output.out << arguments.name << " " << phase << "\n";
  }
  if (ExitCodeOf(last) != ExitCode::kNotSaved) return ExitCode::kOk;
  SayNotSaved(last, output);
  return ExitCode::kNotSaved;
}

absl::StatusOr<ExitCode> WaitWorker(const WaitArguments& arguments,
                                    Client& client, const Output& output) {
  v1::WorkerView last;
  absl::Status asked;
  const absl::Status waited =
      PollUntil(kAskInterval, arguments.limit, [&]() -> absl::StatusOr<bool> {
        absl::StatusOr<v1::WorkerView> found =
            FindWorker(client, arguments.name);
        asked = found.status();
        if (!found.ok()) return asked;
        last = *std::move(found);
        return last.state() == arguments.until;
      });
  SKERRY_RETURN_IF_ERROR(asked);
  if (!waited.ok()) {
    output.err << "skerryctl: worker " << arguments.name << " is "
               << last.state() << "\n";
    return ExitCode::kTimedOut;
  }
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(last);
  } else {
    output.out << arguments.name << " " << last.state() << "\n";
  }
  return ExitCode::kOk;
}

// For a command that waits until something is one of `states`, of which `what`
// is the kind.
void AddWaitOptions(CLI::App& app, const char* what,
                    const std::vector<std::string>& states,
                    WaitArguments& wanted) {
  app.add_option("--for", wanted.until,
                 absl::StrCat(what, ", one of: ", absl::StrJoin(states, ", ")))
      ->check(IsOneOf(states))
      ->required();
  AddDuration(app, "--timeout",
              "give up after so long, as 90s or 10m; default: never",
              wanted.limit);
}

void AddJobOptions(CLI::App& app, WaitArguments& wanted) {
  AddJobName(app, wanted.name);
  AddWaitOptions(app, "phase", PhasesToWaitFor(), wanted);
}

void AddWorkerOptions(CLI::App& app, WaitArguments& wanted) {
  AddWorkerName(app, wanted.name);
  AddWaitOptions(app, "state", StatesToWaitFor(), wanted);
}

}  // namespace

Command WaitJobCommand() {
  return MakeCommand<WaitArguments>({.words = "wait job",
                                     .about = "until the job is in a phase",
                                     .add_options = AddJobOptions,
                                     .run = WaitJob});
}

Command WaitWorkerCommand() {
  return MakeCommand<WaitArguments>({.words = "wait worker",
                                     .about = "until the worker is in a state",
                                     .add_options = AddWorkerOptions,
                                     .run = WaitWorker});
}

}  // namespace skerry::cli
