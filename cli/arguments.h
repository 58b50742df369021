// cli/arguments.h
//
// The command line as values.
#ifndef SKERRY_CLI_ARGUMENTS_H_
#define SKERRY_CLI_ARGUMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/commands/checkpoint.h"
#include "cli/commands/data_prepare.h"
#include "cli/commands/describe_model.h"
#include "cli/commands/generate.h"
#include "cli/commands/state.h"
#include "cli/exit_code.h"
#include "cli/output.h"

namespace skerry::cli {

enum class Command {
  kSubmit,
  kGetJobs,
  kGetJob,
  kGetWorkers,
  kGetIslands,
  kDescribeJob,
  kDescribeModel,
  kWatchJob,
  kLogs,
  kCancel,
  kAuditData,
  kGenerate,
  kCheckpointCreate,
  kCheckpointList,
  kCheckpointVerify,
  kCheckpointExport,
  kDataPrepare,
  kStateExport,
  kStateVerify,
  kStateBackup,
  kVersion,
};

struct Arguments {
  Command command = Command::kVersion;
  // host:port; the flag, else SKERRY_COORDINATOR, else the default.
  std::string coordinator = "127.0.0.1:7443";
  OutputForm form = OutputForm::kTable;
  // Of the job, for the commands that take one.
  std::string name;
  // submit.
  std::string file;
  // logs.
  bool follow = false;
  GenerateArguments generate;
  CheckpointArguments checkpoint;
  DataPrepareOptions prepare;
  DescribeModelArguments model;
  StateArguments state;
};

struct Parsed {
  // None when there is nothing to run: help was asked for, or the line is
  // wrong.
  std::optional<Arguments> arguments;
  // For standard output (help), or one line for standard error.
  std::string text;
  ExitCode code = ExitCode::kOk;
};

// `words` without the program's name.
Parsed ParseArguments(std::vector<std::string> words);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_ARGUMENTS_H_
