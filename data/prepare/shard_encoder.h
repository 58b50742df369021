// data/prepare/shard_encoder.h
//
// Does the work of `data prepare`: encodes texts into shards and records how
// far it is.
#ifndef SKERRY_DATA_PREPARE_SHARD_ENCODER_H_
#define SKERRY_DATA_PREPARE_SHARD_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/manifest.h"
#include "data/prepare/byte_progress.h"
#include "data/prepare/data_set_writer.h"
#include "data/prepare/prepare_inputs.h"
#include "data/prepare/prepare_record.h"
#include "data/prepare/text_units.h"
#include "data/tokenizer/text_codec.h"
#include "runtime/files.h"

namespace skerry::data {

// Continues where a record ends, one shard after another. It uses memory for
// about forty units for each thread, or seven times the longest line or uncut
// document.
class ShardEncoder {
 public:
  struct Options {
    size_t unit_bytes = 0;
    int threads = 1;
    // Path of the record; empty to keep none.
    std::string record_path;
  };
  // All outlive it. `record` holds what `writer` has taken.
  ShardEncoder(Options options, const PrepareInputs& inputs,
               const TextCodec& codec, UnitEncoder& units,
               DataSetWriter& writer, PrepareRecord& record,
               runtime::Files& files, ByteProgress& progress);

  // Errors: those of its parts; FailedPrecondition when an input is another
  // than the one that was scanned; DataLoss when the record cannot be true.
  absl::Status Run();

 private:
  absl::Status EncodeSplit(Split split);
  absl::Status EncodeInput(Split split, size_t input, const Stretch& stretch,
                           uint64_t begin);
  absl::Status EncodeStretch(Split split, size_t input, const Stretch& stretch,
                             InputReader& reader);
  // The units that the reader's window begins with, enlarged until there is
  // one.
  absl::StatusOr<std::vector<TextUnit>> NextUnits(size_t input,
                                                  const Stretch& stretch,
                                                  InputReader& reader);
  absl::Status TakeTokens(Split split, InputPlace place,
                          const std::vector<int32_t>& tokens);
  absl::Status EndSplit(Split split);
  absl::Status Note(ShardEntry entry, uint64_t tokens);
  absl::Status SaveRecord();
  Stretch StretchOf(Split split, size_t input) const;
  size_t BatchUnits() const;

  const Options options_;
  const PrepareInputs& inputs_;
  const TextCodec& codec_;
  UnitEncoder& units_;
  DataSetWriter& writer_;
  PrepareRecord& record_;
  runtime::Files& files_;
  ByteProgress& progress_;
  // Where the first unit begins, its split, and how many tokens from there on
  // are already in shards.
  InputPlace begin_;
  Split begin_split_ = Split::kTrain;
  uint64_t in_shards_ = 0;
  // The last unit, and its tokens.
  InputPlace last_;
  uint64_t last_tokens_ = 0;
  // Special tokens in the shard that is being written.
  uint64_t special_tokens_ = 0;
};

// The longest beginning of `shards` that is on disk as they say; `writer` takes
// it. Errors: those of `files`.
absl::StatusOr<std::vector<PreparedShard>> TakeFinishedShards(
    const std::vector<PreparedShard>& shards, DataSetWriter& writer);

// Bytes of the inputs before the place.
uint64_t BytesBefore(const PrepareInputs& inputs, InputPlace place);

}  // namespace skerry::data

#endif  // SKERRY_DATA_PREPARE_SHARD_ENCODER_H_
