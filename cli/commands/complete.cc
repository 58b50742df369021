#include "cli/commands/complete.h"

#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cli/client.h"
#include "cli/commands/config.h"
#include "cli/config_file.h"
#include "cli/explain.h"

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

std::string AddressFor(const Completion& completion, const std::string& address,
                       const runtime::Files& files) {
  if (!completion.coordinator.empty()) return completion.coordinator;
  const char* given = std::getenv("SKERRY_COORDINATOR");
  if (completion.context.empty() && given != nullptr && *given != '\0') {
    return given;
  }
  return ResolveCoordinator(completion.context, address, files)
      .value_or(address);
}

std::vector<std::string> NamesOfCluster(Names names,
                                        const std::string& address) {
  std::vector<std::string> found;
  const auto client = Client::Make(address, kPatience);
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

}  // namespace

absl::Status PrintCompletionScript(const std::string& shell,
                                   const Output& output) {
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

void PrintCandidates(const Completion& completion, const std::string& address,
                     const runtime::Files& files, std::ostream& out) {
  std::vector<std::string> names;
  switch (completion.names) {
    case Names::kNone:
      break;
    case Names::kJobs:
    case Names::kWorkers:
      names = NamesOfCluster(completion.names,
                             AddressFor(completion, address, files));
      break;
    case Names::kContexts:
      names = NamesOfContexts(files);
      break;
    case Names::kFields:
      names = AllFieldPaths();
      break;
    case Names::kFiles:
      out << ":files\n";
      return;
  }
  for (const std::string& word : completion.words) out << word << "\n";
  for (const std::string& name : names) {
    if (absl::StartsWith(name, completion.prefix)) out << name << "\n";
  }
}

}  // namespace skerry::cli
