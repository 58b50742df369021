#include "cli/commands/complete.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cli/client.h"
#include "cli/commands/config.h"
#include "cli/config_file.h"
#include "cli/explain.h"
#include "cli/word_checks.h"

namespace skerry::cli {
namespace {

constexpr absl::Duration kPatience = absl::Milliseconds(300);

// Each asks the program that is being typed, wherever it lies.
constexpr char kBash[] = R"(# bash: source <(skerryctl completion bash)
_skerryctl() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" __complete \
    "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [ "${COMPREPLY[0]}" = ":files" ]; then
    COMPREPLY=()
    compopt -o default
  fi
}
complete -F _skerryctl skerryctl
)";

constexpr char kZsh[] = R"(#compdef skerryctl
# zsh: source <(skerryctl completion zsh)
_skerryctl() {
  local -a found
  found=("${(@f)$("${words[1]}" __complete \
    "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "${found[1]}" == ":files" ]]; then
    _files
  else
    compadd -a found
  fi
}
compdef _skerryctl skerryctl
)";

constexpr char kFish[] = R"(# fish: skerryctl completion fish | source
function __skerryctl_complete
  set -l before (commandline -opc)
  set -l last (commandline -ct)
  set -l found ($before[1] __complete $before[2..-1] "$last" 2>/dev/null)
  if test "$found[1]" = ":files"
    __fish_complete_path "$last"
  else
    printf '%s\n' $found
  end
end
complete -c skerryctl -f -a '(__skerryctl_complete)'
)";

Context ContextFor(const Completion& completion, const runtime::Files& files) {
  Context context;
  context.coordinator = completion.coordinator;
  const char* given = std::getenv("SKERRY_COORDINATOR");
  if (completion.context.empty() && context.coordinator.empty() &&
      given != nullptr) {
    context.coordinator = given;
  }
  if (completion.context.empty() && !context.coordinator.empty()) {
    return context;
  }
  Context found =
      ResolveContext(completion.context, SharedArguments().coordinator, files)
          .value_or(context);
  if (!context.coordinator.empty()) found.coordinator = context.coordinator;
  return found;
}

std::vector<std::string> NamesOfCluster(Names names, const Context& context,
                                        const runtime::Files& files) {
  std::vector<std::string> found;
  auto credentials = CredentialsOf(context, files);
  if (!credentials.ok()) return found;
  const auto client =
      Client::Make(context.coordinator, *std::move(credentials), kPatience);
  if (!client.ok()) return found;
  if (names == Names::kJobs) {
    const absl::StatusOr<v1::ListJobsReply> jobs = (*client)->ListJobs();
    if (!jobs.ok()) return found;
    for (const v1::JobView& job : jobs->jobs()) {
      found.push_back(job.spec().name());
    }
    return found;
  }
  const absl::StatusOr<v1::ListWorkersReply> workers = (*client)->ListWorkers();
  if (!workers.ok()) return found;
  for (const v1::WorkerView& worker : workers->workers()) {
    found.push_back(worker.worker());
  }
  return found;
}

std::vector<std::string> NamesOfContexts(const runtime::Files& files) {
  std::vector<std::string> found;
  const absl::StatusOr<std::string> path = ConfigPath();
  if (!path.ok()) return found;
  const absl::StatusOr<Config> config = ReadConfig(*path, files);
  if (!config.ok()) return found;
  for (const Context& context : config->contexts) found.push_back(context.name);
  return found;
}

struct CompletionArguments {
  // bash | zsh | fish.
  std::string shell;
};

absl::Status PrintScript(const CompletionArguments& arguments,
                         const Output& output) {
  const std::string& shell = arguments.shell;
  if (shell == "bash") {
    output.out << kBash;
  } else if (shell == "zsh") {
    output.out << kZsh;
  } else if (shell == "fish") {
    output.out << kFish;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no script for ", shell));
  }
  return absl::OkStatus();
}

void AddOptions(CLI::App& app, CompletionArguments& wanted) {
  app.add_option("SHELL", wanted.shell, "one of: bash, zsh or fish")
      ->check(IsOneOf({"bash", "zsh", "fish"}))
      ->required();
}

absl::Status PrintCandidates(const HalfLineArguments& arguments,
                             runtime::Files& files, const Output& output) {
  const Completion& completion = arguments.completion;
  std::vector<std::string> names;
  switch (completion.names) {
    case Names::kNone:
      break;
    case Names::kJobs:
    case Names::kWorkers:
      names = NamesOfCluster(completion.names, ContextFor(completion, files),
                             files);
      break;
    case Names::kContexts:
      names = NamesOfContexts(files);
      break;
    case Names::kFields:
      names = AllFieldPaths();
      break;
    case Names::kFiles:
      output.out << ":files\n";
      return absl::OkStatus();
  }
  for (const std::string& word : completion.words) output.out << word << "\n";
  for (const std::string& name : names) {
    if (absl::StartsWith(name, completion.prefix)) output.out << name << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

Command CompletionCommand() {
  return MakeCommand<CompletionArguments>({.words = "completion",
                                           .about = "a script for a shell",
                                           .prints = Prints::kText,
                                           .add_options = AddOptions,
                                           .run = PrintScript});
}

Command HalfLineCommand() {
  return MakeCommand<HalfLineArguments>({.words = kHalfLineWord,
                                         .about = "what can follow half a line",
                                         .prints = Prints::kText,
                                         .run = PrintCandidates});
}

}  // namespace skerry::cli
