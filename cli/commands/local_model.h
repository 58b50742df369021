// cli/commands/local_model.h
//
// A model in a folder of this machine: a checkpoint of a job, or what
// transformers saves.
#ifndef SKERRY_CLI_COMMANDS_LOCAL_MODEL_H_
#define SKERRY_CLI_COMMANDS_LOCAL_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/tokenizer/text_codec.h"
#include "model/spec/model_config.h"
#include "runtime/files.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skerry::cli {

struct LocalModelArguments {
  // A checkpoint, a folder of checkpoints, whose newest is taken, or a folder
  // of transformers.
  std::string folder = "";
  // A tokenizer's file; empty for that of the folder.
  std::string tokenizer = "";
  // What encodes for a model of sentencepiece.
  std::string sentencepiece_program = "";
  // 0: as many as the machine has.
  int threads = 0;
};

struct LocalModel {
  model::ModelConfig config;
  std::vector<float> parameters;
  // Null when the folder has none and none was named.
  std::unique_ptr<data::TextCodec> codec;
  // Tokens after which the model's own files say that a text is over.
  std::vector<int32_t> ends;
};

// Errors: those of checkpoint/starting_point.h; InvalidArgument for a tokenizer
// that cannot be read or has more tokens than the model.
absl::StatusOr<LocalModel> OpenLocalModel(const LocalModelArguments& arguments,
                                          runtime::Files& files);

// Adds the model's folder, its tokenizer and the threads. `wanted` outlives
// `app`.
void AddModelOptions(CLI::App& app, LocalModelArguments& wanted);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMANDS_LOCAL_MODEL_H_
