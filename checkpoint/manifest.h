// checkpoint/manifest.h
//
// The list of what a checkpoint consists of; the last blob written, so that a
// checkpoint with a manifest is complete. See docs/formats/checkpoint.md.
#ifndef SKERRY_CHECKPOINT_MANIFEST_H_
#define SKERRY_CHECKPOINT_MANIFEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::checkpoint {

inline constexpr std::string_view kManifestFile = "skerry-checkpoint.json";

struct CheckpointFile {
  std::string file;  // beside the manifest
  uint64_t bytes = 0;
  std::string sha256;  // 64 lower-case hex digits
  friend bool operator==(const CheckpointFile&,
                         const CheckpointFile&) = default;
};

struct Manifest {
  std::string job;
  uint64_t job_id = 0;
  // The model as it stood after this many commits, ...
  uint64_t sequence = 0;
  // ... which took in this many samples.
  uint64_t samples = 0;
  std::vector<CheckpointFile> files;
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// Errors: InvalidArgument, naming the entry, when a name leaves the folder, is
// the manifest's own or is listed twice, a digest is malformed, or the job has
// no name.
absl::Status ValidateManifest(const Manifest& manifest);

// Any text may be given. Errors: InvalidArgument when it is no valid manifest;
// DataLoss when it does not have the hash that it names as its own.
absl::StatusOr<Manifest> ParseManifest(std::string_view json);

// Deterministic. Requires: ValidateManifest(manifest) is OK.
std::string SerializeManifest(const Manifest& manifest);

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_MANIFEST_H_
