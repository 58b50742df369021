// skerryctl: the operator's tool.
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/commands/change.h"
#include "cli/commands/checkpoint.h"
#include "cli/commands/data_prepare.h"
#include "cli/commands/describe_model.h"
#include "cli/commands/follow.h"
#include "cli/commands/generate.h"
#include "cli/commands/show.h"
#include "cli/commands/state.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "runtime/posix/posix_files.h"

namespace skerry::cli {
namespace {

absl::Status RunOnCluster(const Arguments& arguments, Client& client,
                          const Output& output) {
  switch (arguments.command) {
    case Command::kSubmit:
      return SubmitJob(client, arguments.file, output);
    case Command::kGetJobs:
      return GetJobs(client, output);
    case Command::kGetJob:
      return GetJob(client, arguments.name, output);
    case Command::kGetWorkers:
      return GetWorkers(client, output);
    case Command::kGetIslands:
      return GetIslands(client, output);
    case Command::kDescribeJob:
      return DescribeJob(client, arguments.name, output);
    case Command::kLogs:
      return ShowEvents(client, arguments.name, arguments.follow, output);
    case Command::kCancel:
      return CancelJob(client, arguments.name, output);
    case Command::kAuditData:
      return AuditData(client, arguments.name, output);
    case Command::kGenerate:
      return GenerateText(client, arguments.generate, output);
    case Command::kCheckpointCreate: {
      runtime::PosixFiles files;
      return CreateCheckpoint(client, arguments.checkpoint, files, output);
    }
    case Command::kVersion:
      return ShowVersion(client, output);
    case Command::kCheckpointList:
    case Command::kCheckpointVerify:
    case Command::kCheckpointExport:
    case Command::kWatchJob:
    case Command::kDataPrepare:
    case Command::kDescribeModel:
    case Command::kStateExport:
    case Command::kStateVerify:
    case Command::kStateBackup:
      break;
  }
  return absl::InternalError("not a command for the coordinator");
}

// Commands that need no coordinator; none when it is another.
std::optional<absl::Status> RunAlone(const Arguments& arguments,
                                     const Output& output) {
  runtime::PosixFiles files;
  switch (arguments.command) {
    case Command::kDataPrepare:
      return DataPrepare(arguments.prepare, files, output.out);
    case Command::kDescribeModel:
      return DescribeModel(arguments.model, output);
    case Command::kCheckpointList:
      return ListCheckpoints(arguments.checkpoint, files, output);
    case Command::kCheckpointVerify:
      return VerifyCheckpoints(arguments.checkpoint, files, output);
    case Command::kCheckpointExport:
      return ExportCheckpoint(arguments.checkpoint, files, output);
    case Command::kStateExport:
      return ExportState(arguments.state, output);
    case Command::kStateVerify:
      return VerifyState(arguments.state, output);
    case Command::kStateBackup:
      return BackUpState(arguments.state, output);
    default:
      return std::nullopt;
  }
}

absl::StatusOr<ExitCode> Run(const Arguments& arguments, const Output& output) {
  const std::optional<absl::Status> alone = RunAlone(arguments, output);
  if (alone.has_value()) {
    if (!alone->ok()) return *alone;
    return ExitCode::kOk;
  }
  absl::StatusOr<std::unique_ptr<Client>> client =
      Client::Make(arguments.coordinator);
  if (!client.ok()) {
    output.err << "skerryctl: " << client.status().message() << "\n";
    return ExitCode::kUsage;
  }
  if (arguments.command == Command::kWatchJob) {
    return WatchJob(**client, arguments.name, output);
  }
  const absl::Status ran = RunOnCluster(arguments, **client, output);
  if (!ran.ok()) return ran;
  return ExitCode::kOk;
}

ExitCode Main(std::vector<std::string> words) {
  std::ios::sync_with_stdio(false);
  const Parsed parsed = ParseArguments(std::move(words));
  if (!parsed.arguments.has_value()) {
    if (parsed.code == ExitCode::kOk) {
      std::cout << parsed.text;
    } else {
      std::cerr << "skerryctl: " << parsed.text;
    }
    return parsed.code;
  }
  const Output output{parsed.arguments->form, std::cout, std::cerr};
  const absl::StatusOr<ExitCode> code = Run(*parsed.arguments, output);
  if (!std::cout.flush()) {
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
