// checkpoint/model_folder.h
//
// Reads a folder that transformers saved a model in. It decides which of the
// files are read, what hash names them together, and which config a job takes
// from them. See docs/formats/safetensors.md.
#ifndef SKERRY_CHECKPOINT_MODEL_FOLDER_H_
#define SKERRY_CHECKPOINT_MODEL_FOLDER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/tensor_files.h"
#include "runtime/files.h"

namespace skerry::checkpoint {

struct ModelFolder {
  // Without dropout, and with the end-of-text tokens of generation_config.json
  // where that file names some.
  std::string config_json;
  // Every weight file, whole.
  std::vector<NamedBytes> weights;
  // Names the bytes of config and weights: the SHA-256 of the lines
  // "SHA-256  FILE", ended by line feeds, of config.json, the weight files and
  // the index if it was followed, in the order of their names.
  std::string sha256;
};

// A whole model.safetensors comes before an index, as it does in transformers.
// Errors: NotFound, naming what the folder has instead; DataLoss for an index
// that is none; FailedPrecondition when the folder is a checkpoint itself.
absl::StatusOr<ModelFolder> ReadModelFolder(const std::string& folder,
                                            const runtime::Files& files);

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_MODEL_FOLDER_H_
