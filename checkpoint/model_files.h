// checkpoint/model_files.h
//
// Writes and reads a model's state as files, for checkpoints and for
// transformers. See docs/formats/checkpoint.md.
#ifndef SKERRY_CHECKPOINT_MODEL_FILES_H_
#define SKERRY_CHECKPOINT_MODEL_FILES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/tensor_table.h"
#include "model/safetensors/dtype.h"
#include "model/safetensors/export_file.h"
#include "runtime/files.h"

namespace skerry::checkpoint {

// What the trainer of a program says of its model.
struct ProgramModel {
  TensorTable table;
  // The files that the table names, in the same order.
  std::vector<model::ExportFile> files;
  uint64_t layout_hash = 0;  // 0: not known
};

// fp32, in the order of the flat model state.
struct ModelState {
  // Text of a config.json that model/spec accepts; empty with a program.
  std::string config_json;
  // A tokenizer's file, of a kind that Skerry reads; empty when there is none.
  std::string tokenizer = "";
  std::vector<float> anchor;
  // As many as `anchor`, or none when the outer method has no momentum.
  std::vector<float> outer_momentum;
  // Set in a job with a program.
  std::optional<ProgramModel> program = std::nullopt;
};

// The tensors of the state. Errors: InvalidArgument when the config is refused.
absl::StatusOr<TensorTable> TensorsOf(const ModelState& state);

struct ModelFileOptions {
  // Unset: fp32, and with a program each tensor's own type.
  std::optional<model::Dtype> dtype = std::nullopt;
  // The most bytes of values in one weight file. Only a file with a single,
  // larger tensor has more.
  uint64_t file_bytes_max = uint64_t{1} << 30;
};

// Takes a finished file, whose bytes are valid only during the call.
using TakeFile =
    absl::FunctionRef<absl::Status(const std::string& file, runtime::ByteSpan)>;

// Hands over weights, index, tokenizer, generation_config.json where the end of
// a text is known, and config, the config last. With a program, its own files
// stand in place of all but weights and index. Errors:
// InvalidArgument when the config is refused or has another number of
// parameters; those of `take`.
absl::Status WriteWeights(const ModelState& state,
                          const ModelFileOptions& options, TakeFile take);

// Writes all of `state` in fp32, as the files of a checkpoint.
absl::Status WriteState(const ModelState& state, uint64_t file_bytes_max,
                        TakeFile take);

// Reads back what WriteState wrote into a finished checkpoint. Errors: DataLoss
// when a file is damaged or does not fit the config; NotFound.
absl::StatusOr<ModelState> ReadState(const CheckpointStore& store,
                                     const std::string& name);

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_MODEL_FILES_H_
