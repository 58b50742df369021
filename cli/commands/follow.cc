#include "cli/commands/follow.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/json.h"
#include "cli/poll.h"
#include "cli/views.h"

namespace skerry::cli {
namespace {

constexpr absl::Duration kAskInterval = absl::Milliseconds(300);

bool HasEnded(v1::JobPhase phase) {
  return phase == v1::JOB_PHASE_SUCCEEDED || phase == v1::JOB_PHASE_FAILED ||
         phase == v1::JOB_PHASE_CANCELLED;
}

bool Reached(const v1::JobView& job, const std::string& until) {
  return PhaseText(job.phase()) == until ||
         (until == "ended" && HasEnded(job.phase()));
}

// What an ended job means for scripts.
ExitCode CodeOf(const v1::JobView& job) {
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

// The line that goes with ExitCode::kNotSaved.
void SayNotSaved(const v1::JobView& job, const Output& output) {
  for (const v1::Condition& condition : job.conditions()) {
    if (condition.kind() != v1::Condition::KIND_CHECKPOINT_FAILS) continue;
    output.err << "skerryctl: job " << job.spec().name()
               << " has succeeded, and its last state is in no checkpoint: "
               << condition.text() << "\n";
  }
}

std::string Because(const std::string& reason) {
  return reason.empty() ? "" : absl::StrCat(": ", reason);
}

absl::StatusOr<v1::WorkerView> FindWorker(Client& client,
                                          const std::string& name) {
  SKERRY_ASSIGN_OR_RETURN(const v1::ListWorkersReply all, client.ListWorkers());
  for (const v1::WorkerView& worker : all.workers()) {
    if (worker.worker() == name) return worker;
  }
  return absl::NotFoundError(absl::StrCat("no worker named ", name));
}

bool Passes(const v1::Event& event, const EventArguments& arguments) {
  const auto& names = arguments.names;
  const bool named = names.empty() || std::find(names.begin(), names.end(),
                                                event.name()) != names.end();
  return named && absl::Milliseconds(event.age_ms()) <= arguments.since;
}

std::string LineOf(const v1::Event& event, const Output& output) {
  return output.form == OutputForm::kJson ? JsonLine(event)
                                          : EventLine(event) + "\n";
}

}  // namespace

absl::StatusOr<ExitCode> WatchJob(Client& client, const std::string& name,
                                  const Output& output) {
  const bool json = output.form == OutputForm::kJson;
  std::optional<v1::JobView> shown;
  v1::JobView newest;
  const auto show = [&](const v1::JobView& job) {
    newest = job;
    const bool differs =
        !shown.has_value() || (json ? JsonLine(*shown) != JsonLine(job)
                                    : ProgressDiffers(*shown, job));
    if (!differs) return true;
    output.out << (json ? JsonLine(job) : ProgressLine(job) + "\n")
               << std::flush;
    shown = job;
    return true;
  };
  SKERRY_RETURN_IF_ERROR(client.Watch(name, absl::InfiniteDuration(), show));
  if (CodeOf(newest) == ExitCode::kNotSaved) SayNotSaved(newest, output);
  return CodeOf(newest);
}

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

absl::StatusOr<ExitCode> WaitJob(Client& client, const std::string& name,
                                 const WaitArguments& arguments,
                                 const Output& output) {
  v1::JobView last;
  const absl::Status watched =
      client.Watch(name, arguments.limit, [&](const v1::JobView& job) {
        last = job;
        return !Reached(job, arguments.until) &&
               job.phase() != v1::JOB_PHASE_DIVERGED;
      });
  const std::string phase = PhaseText(last.phase());
  if (absl::IsDeadlineExceeded(watched)) {
    output.err << "skerryctl: job " << name << " is "
               << (last.id() == 0 ? "not heard of" : phase)
               << Because(last.reason()) << "\n";
    return ExitCode::kTimedOut;
  }
  SKERRY_RETURN_IF_ERROR(watched);
  if (!Reached(last, arguments.until) &&
      last.phase() == v1::JOB_PHASE_DIVERGED) {
    output.err << "skerryctl: job " << name << " is diverged"
               << Because(last.reason()) << "\n";
    return ExitCode::kConflict;
  }
  if (!Reached(last, arguments.until)) {
    output.err << "skerryctl: job " << name << " has ended as " << phase
               << Because(last.reason()) << "; it cannot become "
               << arguments.until << "\n";
    const ExitCode code = CodeOf(last);
    return code == ExitCode::kOk ? ExitCode::kConflict : code;
  }
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(last);
  } else {
    output.out << name << " " << phase << "\n";
  }
  if (CodeOf(last) != ExitCode::kNotSaved) return ExitCode::kOk;
  SayNotSaved(last, output);
  return ExitCode::kNotSaved;
}

absl::StatusOr<ExitCode> WaitWorker(Client& client, const std::string& name,
                                    const WaitArguments& arguments,
                                    const Output& output) {
  v1::WorkerView last;
  absl::Status asked;
  const absl::Status waited =
      PollUntil(kAskInterval, arguments.limit, [&]() -> absl::StatusOr<bool> {
        absl::StatusOr<v1::WorkerView> found = FindWorker(client, name);
        asked = found.status();
        if (!found.ok()) return asked;
        last = *std::move(found);
        return last.state() == arguments.until;
      });
  SKERRY_RETURN_IF_ERROR(asked);
  if (!waited.ok()) {
    output.err << "skerryctl: worker " << name << " is " << last.state()
               << "\n";
    return ExitCode::kTimedOut;
  }
  if (output.form == OutputForm::kJson) {
    output.out << JsonText(last);
  } else {
    output.out << name << " " << last.state() << "\n";
  }
  return ExitCode::kOk;
}

const std::vector<std::string>& EventNames() {
  static const auto* const names = new std::vector<std::string>{
      "JobSubmitted",      "JobPaused",       "JobResumed",
      "WorkerAdmitted",    "WorkerMarked",    "WorkerLeft",
      "ReplicaAdmitted",   "ReplicaEnded",    "ExchangeOpened",
      "ExchangeClosed",    "Committed",       "ContributionDropped",
      "Evaluated",         "CheckpointSaved", "CheckpointFailed",
      "JobRestored",       "JobEnded",        "JobDeleted",
      "JobDiverged",       "JobAdopted",      "WorkerCannotServe",
      "WorkerServesAgain", "NumbersRaised"};
  return *names;
}

absl::Status ShowEvents(Client& client, const std::string& name,
                        const EventArguments& arguments, const Output& output) {
  std::deque<std::string> newest;
  const auto show = [&](const v1::Event& event) {
    if (!Passes(event, arguments)) return;
    if (arguments.tail == 0) {
      output.out << LineOf(event, output) << std::flush;
      return;
    }
    newest.push_back(LineOf(event, output));
    if (newest.size() > arguments.tail) newest.pop_front();
  };
  v1::StreamEventsRequest request;
  request.set_name(name);
  request.set_worker(arguments.worker);
  request.set_follow(arguments.follow);
  SKERRY_RETURN_IF_ERROR(client.StreamEvents(std::move(request), show));
  for (const std::string& line : newest) output.out << line;
  return absl::OkStatus();
}

}  // namespace skerry::cli
