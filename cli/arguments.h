// cli/arguments.h
//
// The command line as values.
#ifndef SKERRY_CLI_ARGUMENTS_H_
#define SKERRY_CLI_ARGUMENTS_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/command_forms.h"
#include "cli/command_walk.h"
#include "cli/commands/checkpoint.h"
#include "cli/commands/data_import.h"
#include "cli/commands/data_prepare.h"
#include "cli/commands/describe_model.h"
#include "cli/commands/doctor.h"
#include "cli/commands/evaluate.h"
#include "cli/commands/follow.h"
#include "cli/commands/generate.h"
#include "cli/commands/restore.h"
#include "cli/commands/sample.h"
#include "cli/commands/simulate.h"
#include "cli/commands/state.h"
#include "cli/commands/top.h"
#include "cli/commands/train_tokenizer.h"
#include "cli/exit_code.h"
#include "cli/listing.h"
#include "cli/output.h"

namespace skerry::cli {

struct Arguments {
  Command command = Command::kVersion;
  // host:port; the flag, else SKERRY_COORDINATOR, else the default.
  std::string coordinator = "127.0.0.1:7443";
  // True when the flag or the environment names the coordinator, so that no
  // context replaces it.
  bool coordinator_given = false;
  // --context, which wins over SKERRY_COORDINATOR.
  std::string context;
  OutputForm form = OutputForm::kTable;
  // Name of the job, for the commands that take one.
  std::string name;
  // Name of the worker, for the commands that take one.
  std::string worker;
  // clean: the folders to remove from the worker's disk. If there are none, it
  // removes those of all jobs that the coordinator does not know.
  std::vector<std::string> folders;
  // submit, apply, plan.
  std::string file;
  // submit: watches the job as well.
  bool follow = false;
  // cancel, delete, clean: does not ask.
  bool sure = false;
  // get.
  ListArguments list;
  DoctorArguments doctor;
  WaitArguments wait;
  EventArguments events;
  TopArguments top;
  // explain: "training.tau"; empty for the whole job.
  std::string field;
  // config: the context that is changed.
  std::string config;
  // completion: bash | zsh | fish.
  std::string shell;
  // The half line that is completed.
  std::vector<std::string> half;
  GenerateArguments generate;
  CheckpointArguments checkpoint;
  RestoreArguments restore;
  DataImportOptions import;
  DataPrepareArguments prepare;
  TrainTokenizerArguments tokenizer;
  SampleArguments sample;
  EvaluateArguments evaluate;
  DescribeModelArguments model;
  StateArguments state;
  SimulateArguments simulate;
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

// What can stand in the place of the last of `words`.
Completion CompleteArguments(const std::vector<std::string>& words);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_ARGUMENTS_H_
