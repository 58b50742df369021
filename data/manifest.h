// data/manifest.h
//
// The manifest lists the files of a prepared data set. It is the last file to
// be written, so a directory with a manifest is complete. See
// docs/formats/token_shard.md.
#ifndef SKERRY_DATA_MANIFEST_H_
#define SKERRY_DATA_MANIFEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::data {

inline constexpr std::string_view kManifestFile = "manifest.json";

enum class Split { kTrain, kValidation };
std::string_view SplitName(Split split);

struct ShardEntry {
  // Name inside the manifest's directory.
  std::string file;
  uint64_t tokens = 0;
  // 64 lower-case hex digits over the whole file.
  std::string sha256;
  Split split = Split::kTrain;
  friend bool operator==(const ShardEntry&, const ShardEntry&) = default;
};

struct Manifest {
  // `bytes`, or the name of a tokenizer's file beside the manifest, whose
  // digest follows then.
  std::string tokenizer;
  std::string tokenizer_sha256;
  // The token after every document, if there is one.
  std::optional<int> document_end;
  // Tokens lie in [0, vocab_size).
  int vocab_size = 0;
  // The stream of a split is its shards one after another, in this order.
  std::vector<ShardEntry> shards;
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// Errors: InvalidArgument, naming the entry, when a name leaves the directory
// or is listed twice, a digest is malformed, the vocabulary or a count is
// impossible, document_end is no token, or there is no training shard.
absl::Status ValidateManifest(const Manifest& manifest);

// Any text may be given. Errors: InvalidArgument when it is no valid manifest.
absl::StatusOr<Manifest> ParseManifest(std::string_view json);

// Deterministic. Requires: ValidateManifest(manifest) is OK.
std::string SerializeManifest(const Manifest& manifest);

// Tokens of one split.
uint64_t TokenCount(const Manifest& manifest, Split split);

}  // namespace skerry::data

#endif  // SKERRY_DATA_MANIFEST_H_
