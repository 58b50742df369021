// checkpoint/starting_point.h
//
// The state that a job starts from: a finished checkpoint of a job, or a model
// as transformers saves it.
#ifndef SKERRY_CHECKPOINT_STARTING_POINT_H_
#define SKERRY_CHECKPOINT_STARTING_POINT_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "checkpoint/manifest.h"
#include "checkpoint/model_files.h"
#include "checkpoint/tensor_table.h"
#include "runtime/blob_stores.h"
#include "runtime/files.h"

namespace skerry::checkpoint {

struct StartingPoint {
  // A place of checkpoints (runtime/blob_stores.h), of which `name` is one. If
  // `name` is empty, the folder of a model as transformers saves it.
  std::string folder;
  std::string name;
};

struct Described {
  // Names all bytes of config and values. For a checkpoint, the SHA-256 of its
  // manifest; for another model, that of model_folder.h.
  std::string sha256;
  // For a model of transformers, the config that model_folder.h reads. Empty
  // for a checkpoint of a job with a program.
  std::string config_json;
  // The model's tensors, when the checkpoint is of a job with a program.
  std::optional<TensorTable> table;
  // The checkpoint's manifest; unset for another model.
  std::optional<Manifest> manifest;
};

// Returns the name of the newest finished checkpoint. Errors: NotFound.
absl::StatusOr<std::string> NewestName(const std::string& folder,
                                       runtime::BlobStores& places);

// Describes what lies there. Errors: NotFound; DataLoss; FailedPrecondition
// when `folder` is a checkpoint itself; those of the place.
absl::StatusOr<Described> Describe(const StartingPoint& where,
                                   runtime::BlobStores& places,
                                   runtime::Files& files);

// Reads and verifies all values. Weights that are not fp32 are widened. Errors:
// as Describe; FailedPrecondition when it is not what `sha256` names;
// InvalidArgument when it is another model than that of `config_json`. If that
// is empty, the job has a program: only checkpoints are read, and the caller
// compares the tensors with those of its trainer.
absl::StatusOr<ModelState> ReadStartingPoint(const StartingPoint& where,
                                             const std::string& sha256,
                                             const std::string& config_json,
                                             runtime::BlobStores& places,
                                             runtime::Files& files);

// Copies the inner state of a checkpoint to the file `path`, durably and piece
// by piece. Errors: as Describe; NotFound when the checkpoint has none;
// FailedPrecondition when it is not what `sha256` names; those of the file.
absl::Status CopyInnerState(const StartingPoint& where,
                            const std::string& sha256, const std::string& path,
                            runtime::BlobStores& places, runtime::Files& files);

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_STARTING_POINT_H_
