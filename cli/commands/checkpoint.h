// cli/commands/checkpoint.h
//
// skerryctl checkpoint: makes a job's checkpoints in a folder from the state
// that workers hold, lists and verifies them, and turns them into folders that
// transformers loads.
#ifndef SKERRY_CLI_COMMANDS_CHECKPOINT_H_
#define SKERRY_CLI_COMMANDS_CHECKPOINT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/output.h"
#include "model/safetensors/dtype.h"
#include "runtime/files.h"

namespace skerry::cli {

struct CheckpointArguments {
  // The folder that has the checkpoints of one job.
  std::string folder;
  // create: the job; keep this many finished ones, 0 keeps all.
  std::string job;
  uint64_t keep = 0;
  // verify and export: one of them; empty: all, and the newest.
  std::string name;
  // export.
  std::string out;
  std::optional<model::Dtype> dtype;
  uint64_t file_bytes_max = uint64_t{1} << 30;
};

// A line each, those that do not count included.
absl::Status ListCheckpoints(const CheckpointArguments& arguments,
                             runtime::Files& files, const Output& output);

// Reads everything. Errors: DataLoss, after all were looked at, when any is
// damaged; NotFound.
absl::Status VerifyCheckpoints(const CheckpointArguments& arguments,
                               runtime::Files& files, const Output& output);

// Errors: AlreadyExists when the folder holds a config.json or weights;
// NotFound; DataLoss.
absl::Status ExportCheckpoint(const CheckpointArguments& arguments,
                              runtime::Files& files, const Output& output);

// create prints the name of the checkpoint, whether it was made now or before.
// The job goes on undisturbed. Errors: those of LocateState and FetchState;
// Aborted when the workers moved on time after time; of the store.
Command CreateCheckpointCommand();
Command ListCheckpointsCommand();
Command VerifyCheckpointsCommand();
Command ExportCheckpointCommand();

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_CHECKPOINT_H_
