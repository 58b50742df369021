// trainer/service/data_directory.h
//
// A prepared data set on disk, mapped into memory.
#ifndef SKERRY_TRAINER_SERVICE_DATA_DIRECTORY_H_
#define SKERRY_TRAINER_SERVICE_DATA_DIRECTORY_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/posix/mapped_file.h"
#include "trainer/core/language_model_trainer.h"
#include "trainer/service/shard_check.h"

namespace skerry::trainer {

struct DataDirectory {
  // Views of the bytes of `files`.
  TrainingData data;
  std::vector<std::shared_ptr<const runtime::MappedFile>> files;
};

// Reads DIRECTORY/manifest.json, opens the tokenizer that it names, and maps
// what it lists. With a digest, the manifest must have it.
// `sentencepiece_program` is started when text is generated with a model of
// sentencepiece, not before. `on_shard` runs after each shard.
//
// Errors: NotFound and PermissionDenied for files; DataLoss when the manifest
// has another digest, or a shard or the tokenizer differs from it;
// InvalidArgument when a file is not what its name says. The message names the
// path.
absl::StatusOr<DataDirectory> OpenDataDirectory(
    const std::string& directory, const std::string& manifest_sha256,
    ShardCheck check, const std::string& sentencepiece_program = "",
    const std::function<void()>& on_shard = [] {});

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_SERVICE_DATA_DIRECTORY_H_
