// data/prepare/prepare_record.h
//
// Reads and writes the file in which `data prepare` records its inputs and its
// progress: docs/formats/token_shard.md.
#ifndef SKERRY_DATA_PREPARE_PREPARE_RECORD_H_
#define SKERRY_DATA_PREPARE_PREPARE_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/manifest.h"
#include "data/prepare/prepare_inputs.h"

namespace skerry::data {

// A shard that is on disk, and where the next shard's tokens begin: those of
// the text at `place`, without the first `tokens`.
struct PreparedShard {
  ShardEntry entry;
  InputPlace place;
  uint64_t tokens = 0;
  // Tokens in it that stand for no text; not known of a shard that an older
  // release wrote.
  std::optional<uint64_t> special_tokens;
  friend bool operator==(const PreparedShard&, const PreparedShard&) = default;
};

struct PrepareRecord {
  struct Input {
    std::string path;
    // Size and SHA-256 of the content, unpacked.
    uint64_t bytes = 0;
    std::string sha256;
    friend bool operator==(const Input&, const Input&) = default;
  };
  std::vector<Input> inputs;
  std::string json_key;
  // SHA-256 of the tokenizer's file; empty for bytes.
  std::string tokenizer_sha256;
  // As on the command line.
  std::string document_end;
  // Whether a text that is written like a special token is text.
  bool takes_specials_as_text = false;
  double validation_fraction = 0;
  uint64_t shard_tokens = 0;
  // What was found in the inputs; release 0.1.0 kept none of it.
  struct Found {
    SplitPlace validation;
    // Bytes of the documents' texts.
    uint64_t training_bytes = 0;
    uint64_t validation_bytes = 0;
    uint64_t documents = 0;
    uint64_t empty_documents = 0;
    uint64_t skipped_lines = 0;
    friend bool operator==(const Found&, const Found&) = default;
  };
  std::optional<Found> found;
  std::vector<PreparedShard> shards;
  friend bool operator==(const PrepareRecord&, const PrepareRecord&) = default;
};

// Deterministic.
std::string SerializePrepareRecord(const PrepareRecord& record);

// Any text may be given. Errors: InvalidArgument.
absl::StatusOr<PrepareRecord> ParsePrepareRecord(std::string_view json);

// Whether both make the same data set; shards do not matter. `splits_as_before`
// is that of the inputs of `wanted`. Errors: AlreadyExists that names the first
// difference, as seen by a user who asks for `wanted` where `found` has begun.
absl::Status SameDataSet(const PrepareRecord& found,
                         const PrepareRecord& wanted, bool splits_as_before);

}  // namespace skerry::data

#endif  // SKERRY_DATA_PREPARE_PREPARE_RECORD_H_
