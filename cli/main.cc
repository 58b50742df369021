// skerryctl: the operator's tool.
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/commands/config.h"
#include "cli/did_you_mean.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/yaml_text.h"
#include "runtime/posix/posix_files.h"
#include "transport/grpc/library_log.h"

namespace skerry::cli {
namespace {

// With the nearest name that there is, if it was a name that is not there.
absl::Status WithHint(const absl::Status& status, const CommandLine& line,
                      Client& client) {
  std::vector<std::string> known;
  std::string wanted;
  absl::string_view where;
  if (absl::StartsWith(status.message(), "no job named")) {
    wanted = line.job;
    where = "; skerryctl get jobs lists them";
    const auto jobs = client.ListJobs();
    if (!jobs.ok()) return status;
    for (const auto& job : jobs->jobs()) known.push_back(job.spec().name());
  } else if (absl::StartsWith(status.message(), "no worker named")) {
    wanted = line.worker;
    where = "; skerryctl get workers lists them";
    const auto workers = client.ListWorkers();
    if (!workers.ok()) return status;
    for (const auto& one : workers->workers()) known.push_back(one.worker());
  }
  const std::string meant = DidYouMean(wanted, known);
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(), meant.empty() ? where : meant));
}

absl::StatusOr<ExitCode> Run(const CommandLine& line, const Output& output) {
  // What a user makes is for whom the umask says.
  runtime::PosixFiles files(runtime::PosixFiles::Access::kUmask);
  const Command& command = *line.command;
  if (const auto* here = std::get_if<RunHere>(&command.run)) {
    return (*here)(line.arguments, files, output);
  }
  const SharedArguments& shared = line.shared;
  const bool is_given =
      shared.coordinator_origin != SharedArguments::Origin::kDefault;
  Context context;
  if (!is_given || !shared.context.empty()) {
    SKERRY_ASSIGN_OR_RETURN(
        context, ResolveContext(shared.context, shared.coordinator, files));
  }
  if (is_given) context.coordinator = shared.coordinator;
  SKERRY_ASSIGN_OR_RETURN(auto credentials, CredentialsOf(context, files));
  absl::StatusOr<std::unique_ptr<Client>> client =
      Client::Make(context.coordinator, std::move(credentials));
  if (!client.ok()) {
    output.err << "skerryctl: " << client.status().message() << "\n";
    return ExitCode::kUsage;
  }
  absl::StatusOr<ExitCode> code = std::get<RunOnCluster>(command.run)(
      line.arguments, **client, files, output);
  if (absl::IsNotFound(code.status())) {
    return WithHint(code.status(), line, **client);
  }
  return code;
}

ExitCode Main(std::vector<std::string> words) {
  std::ios::sync_with_stdio(false);
  // What gRPC says of a failed connection is in the status of the call.
  transport::TakeLibraryLogs();
  const Parsed parsed = ParseArguments(std::move(words));
  if (!parsed.line.has_value()) {
    if (parsed.code == ExitCode::kOk) {
      std::cout << parsed.text;
    } else {
      std::cerr << "skerryctl: " << parsed.text;
    }
    return parsed.code;
  }
  YamlStream yaml(std::cout);
  const SharedArguments& shared = parsed.line->shared;
  const bool as_yaml = shared.form == OutputForm::kYaml;
  const Output output{as_yaml ? OutputForm::kJson : shared.form,
                      as_yaml ? yaml : std::cout, std::cerr, shared.columns};
  const absl::StatusOr<ExitCode> code = Run(*parsed.line, output);
  if (!output.out.flush()) {
    std::cerr << "skerryctl: cannot write to standard output\n";
    return ExitCode::kInternal;
  }
  if (code.ok()) return *code;
  std::cerr << "skerryctl: " << code.status().message() << "\n";
  return ExitCodeFor(code.status());
}

}  // namespace
}  // namespace skerry::cli

int main(int argc, char** argv) {
  return static_cast<int>(skerry::cli::Main({argv + 1, argv + argc}));
}
