#include "cli/commands/events.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <ostream>
#include <utility>

#include "base/status.h"
#include "cli/json.h"
#include "cli/views.h"
#include "cli/word_checks.h"
#include "runtime/command_line/number_option.h"

namespace skerry::cli {
namespace {

// What Event.name can be.
const std::vector<std::string>& EventNames() {
  static const auto* const names = new std::vector<std::string>{
      "JobSubmitted",      "JobPaused",          "JobResumed",
      "WorkerAdmitted",    "WorkerMarked",       "WorkerLeft",
      "TokenMade",         "TokenDeleted",       "WorkerJoined",
      "WorkerForgotten",   "CertificateRevoked", "RevocationLifted",
      "ReplicaAdmitted",   "ReplicaEnded",       "ExchangeOpened",
      "ExchangeClosed",    "Committed",          "ContributionDropped",
      "Evaluated",         "CheckpointSaved",    "CheckpointFailed",
      "JobRestored",       "JobEnded",           "JobDeleted",
      "JobDiverged",       "JobAdopted",         "WorkerCannotServe",
      "WorkerServesAgain", "NumbersRaised"};
  return *names;
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

absl::Status ShowEvents(const EventArguments& arguments, Client& client,
                        const Output& output) {
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
  request.set_name(arguments.job);
  request.set_worker(arguments.worker);
  request.set_follow(arguments.follow);
  SKERRY_RETURN_IF_ERROR(client.StreamEvents(std::move(request), show));
  for (const std::string& line : newest) output.out << line;
  return absl::OkStatus();
}

void AddOptions(CLI::App& app, EventArguments& wanted) {
  CLI::Option* job = app.add_option("NAME", wanted.job, "name of the job");
  app.add_option("--worker", wanted.worker,
                 "a worker, whose events are shown instead of a job's; "
                 "default: none")
      ->type_name("NAME")
      ->excludes(job);
  CLI::Option* follow = app.add_flag(
      "-f,--follow", wanted.follow, "go on with what comes until the job ends");
  app.add_option("--name", wanted.names,
                 "names of events, with commas between them: only those; "
                 "default: all")
      ->type_name("NAMES")
      ->check(IsOneOf(EventNames()))
      ->delimiter(',')
      ->allow_extra_args(false);
  AddDuration(app, "--since",
              "only those not older than this, as 90s or 10m; default: all",
              wanted.since);
  runtime::AddNumber(app, "--tail", wanted.tail, {.low = 1},
                     "only the newest so many; default: all")
      ->excludes(follow);
}

std::string Finish(EventArguments& wanted, const SharedArguments&) {
  return wanted.job.empty() && wanted.worker.empty()
             ? "events: NAME of a job or --worker is required"
             : "";
}

Command EventsCalled(const char* words) {
  return MakeCommand<EventArguments>(
      {.words = words,
       .about = "the history of a job or a worker",
       .prints = Prints::kStream,
       .add_options = AddOptions,
       .finish = Finish,
       .run = ShowEvents});
}

}  // namespace

Command LogsCommand() { return EventsCalled("logs"); }
Command EventsCommand() { return EventsCalled("events"); }

}  // namespace skerry::cli
