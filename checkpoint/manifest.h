// checkpoint/manifest.h
//
// The manifest lists the files of a checkpoint. It is the last blob to be
// written, so a checkpoint with a manifest is complete. See
// docs/formats/checkpoint.md.
#ifndef SKERRY_CHECKPOINT_MANIFEST_H_
#define SKERRY_CHECKPOINT_MANIFEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/sample_ranges.h"

namespace skerry::checkpoint {

inline constexpr std::string_view kManifestFile = "skerry-checkpoint.json";
// The inner state of one trainer (docs/formats/inner_state.md), at the
// checkpoint's sequence. Only some checkpoints have it.
inline constexpr std::string_view kInnerStateFile = "inner.safetensors";

struct CheckpointFile {
  std::string file;  // beside the manifest
  uint64_t bytes = 0;
  std::string sha256;  // 64 lower-case hex digits
  friend bool operator==(const CheckpointFile&,
                         const CheckpointFile&) = default;
};

// Gives positions of a job's samples their meaning. A job can go on with the
// unused samples of another one if both have the same order.
struct SampleOrder {
  std::string data_sha256;  // of the data set's manifest
  uint64_t seed = 0;
  uint64_t sequence_tokens = 0;
  // For a job with a program, in place of data set and length: what people call
  // its data, and the samples that the job said they have, 0 when it did not.
  std::string data_id = {};
  uint64_t data_samples = 0;
  friend bool operator==(const SampleOrder&, const SampleOrder&) = default;
};

struct Manifest {
  std::string job;
  uint64_t job_id = 0;
  // The model as it stood after this many commits, ...
  uint64_t sequence = 0;
  // ... which took in this many samples.
  uint64_t samples = 0;
  std::vector<CheckpointFile> files;
  // Which ones: ascending, apart from each other, `samples` together. Both are
  // there or neither.
  std::optional<SampleOrder> order = std::nullopt;
  std::vector<data::SampleRange> consumed = {};
  // Set in a checkpoint of a job with a program: the hash of the model's
  // tensors that its trainer told, 0 when it did not.
  std::optional<uint64_t> layout_hash = std::nullopt;
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// The entry of the inner state; null when the checkpoint has none.
const CheckpointFile* FindInnerState(const Manifest& manifest);

// Errors: InvalidArgument, naming the entry, when a name leaves the folder, is
// the manifest's own or is listed twice, a digest is malformed, the job has no
// name, or the samples are not as many as it says, or are of data that a job of
// its kind does not have.
absl::Status ValidateManifest(const Manifest& manifest);

// Any text may be given. Errors: InvalidArgument when it is no valid manifest;
// DataLoss when it does not have the hash that it names as its own.
absl::StatusOr<Manifest> ParseManifest(std::string_view json);

// Deterministic. Requires: ValidateManifest(manifest) is OK.
std::string SerializeManifest(const Manifest& manifest);

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_MANIFEST_H_
