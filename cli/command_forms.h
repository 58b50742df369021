// cli/command_forms.h
//
// The commands, and the forms in which each can print its answer.
#ifndef SKERRY_CLI_COMMAND_FORMS_H_
#define SKERRY_CLI_COMMAND_FORMS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "cli/output.h"

namespace skerry::cli {

enum class Command {
  kSubmit,
  kApply,
  kPlan,
  kPause,
  kResume,
  kRestore,
  kCordon,
  kUncordon,
  kDrain,
  kClean,
  kGetJobs,
  kGetJob,
  kGetWorkers,
  kGetIslands,
  kDescribeJob,
  kDescribeWorker,
  kDescribeModel,
  kWatchJob,
  kWaitJob,
  kWaitWorker,
  kLogs,
  kTop,
  kCancel,
  kDeleteJob,
  kAuditData,
  kGenerate,
  kCheckpointCreate,
  kCheckpointList,
  kCheckpointVerify,
  kCheckpointExport,
  kDataImport,
  kDataPrepare,
  kTrainTokenizer,
  kSample,
  kEvaluate,
  kStateExport,
  kStateVerify,
  kStateBackup,
  kSimulate,
  kExplain,
  kConfigGet,
  kConfigSet,
  kConfigUse,
  kConfigDelete,
  kCompletion,
  // The scripts that kCompletion prints call this command.
  kComplete,
  kVersion,
  kDoctor,
};

// Accepts the name of a form, such as "table", and
// "custom-columns=NAME:spec.name".
CLI::Validator IsForm();

// Reads a text that IsForm accepts. What follows "custom-columns=" goes to
// `columns`.
OutputForm ReadForm(const std::string& text, std::string* columns);

bool HasForm(Command command, OutputForm form);

// The form that the command is told to print. A command that follows something
// prints one object a line in either JSON form, so it is told kJson for
// kJsonLines.
OutputForm SeenForm(Command command, OutputForm form);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMAND_FORMS_H_
