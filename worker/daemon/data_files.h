// worker/daemon/data_files.h
//
// Lists the files of a data set. Workers that fetch one from another name a
// file by its number in this list (docs/formats/bulk.md).
#ifndef SKERRY_WORKER_DAEMON_DATA_FILES_H_
#define SKERRY_WORKER_DAEMON_DATA_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/manifest.h"
#include "runtime/files.h"

namespace skerry::worker {

struct DataFile {
  uint64_t number = 0;
  std::string name;
  uint64_t bytes = 0;
  std::string sha256;
};

// Numbers of the manifest, of the tokenizer that it may name, and of its first
// shard. The other shards follow in the order of the manifest.
inline constexpr uint64_t kManifestNumber = 0;
inline constexpr uint64_t kTokenizerNumber = 1;
inline constexpr uint64_t kFirstShardNumber = 2;

// Longer manifests and tokenizers are not read.
inline constexpr uint64_t kSmallFileBytesMax = 64 << 20;

std::vector<DataFile> ShardsOf(const data::Manifest& manifest);

// The first 8 bytes of a SHA-256 that is given in hexadecimal digits, as a
// little-endian number. Requires: at least 16 digits.
uint64_t ShortHash(const std::string& sha256);

// Returns all files of the data set in `folder`, whose manifest has to have
// this SHA-256. Shards are compared by length only. Blocks. Errors: those of
// Files; InvalidArgument for a manifest that cannot be; FailedPrecondition for
// another manifest or a shard of another length.
absl::StatusOr<std::vector<DataFile>> FindDataSet(
    const std::string& folder, const std::string& manifest_sha256,
    const runtime::Files& files);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_DATA_FILES_H_
