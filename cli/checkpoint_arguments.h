// cli/checkpoint_arguments.h
//
// The options of the commands about checkpoints.
#ifndef SKERRY_CLI_CHECKPOINT_ARGUMENTS_H_
#define SKERRY_CLI_CHECKPOINT_ARGUMENTS_H_

#include "cli/commands/checkpoint.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skerry::cli {

// `wanted` outlives the command.
void AddCheckpointCreateOptions(CLI::App* create, CheckpointArguments& wanted);
void AddCheckpointListOptions(CLI::App* list, CheckpointArguments& wanted);
void AddCheckpointVerifyOptions(CLI::App* verify, CheckpointArguments& wanted);
void AddCheckpointExportOptions(CLI::App* exported,
                                CheckpointArguments& wanted);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_CHECKPOINT_ARGUMENTS_H_
