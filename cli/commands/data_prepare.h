// cli/commands/data_prepare.h
//
// skerryctl data prepare: turns text files into a data set that workers train
// on.
#ifndef SKERRY_CLI_COMMANDS_DATA_PREPARE_H_
#define SKERRY_CLI_COMMANDS_DATA_PREPARE_H_

#include <string>

#include "absl/status/status.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/prepare/prepare_data_set.h"
#include "runtime/files.h"

namespace skerry::cli {

struct DataPrepareArguments {
  data::PrepareOptions set;
  // What encodes for a model of sentencepiece.
  std::string sentencepiece_program = "";
  // 0: as many as this process may use.
  int threads = 0;
};

// Makes the data set and prints what was made, what was counted of the
// documents and, of bytes, how well n-gram models predict the validation split.
// Pipes are kept in the folder until the command ends. Errors: those of
// PrepareDataSet.
absl::Status DataPrepare(const DataPrepareArguments& arguments,
                         runtime::Files& files, const Output& output);

Command DataPrepareCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_DATA_PREPARE_H_
