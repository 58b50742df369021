// cli/command_forms.h
//
// The commands, and in which forms each can answer.
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
  // Of the scripts that kCompletion prints.
  kComplete,
  kVersion,
  kDoctor,
};

// "table", .. or "custom-columns=NAME:spec.name".
CLI::Validator IsForm();

// Of a text that IsForm accepts; the columns go to `columns`.
OutputForm ReadForm(const std::string& text, std::string* columns);

bool HasForm(Command command, OutputForm form);

// The form as the command sees it: what follows something prints one object a
// line in either JSON form.
OutputForm SeenForm(Command command, OutputForm form);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMAND_FORMS_H_
