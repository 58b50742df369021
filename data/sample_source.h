// data/sample_source.h
//
// Reads batches from token shards. The shards of a split form one stream of
// tokens. Sample i has the inputs [i*T, i*T + T) and the targets one token
// later, so samples share no target. A tail too short for a sample is unused.
#ifndef SKERRY_DATA_SAMPLE_SOURCE_H_
#define SKERRY_DATA_SAMPLE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/sample_order.h"
#include "data/token_shard.h"

namespace skerry::data {

class SampleSource {
 public:
  struct Options {
    // T, tokens a sample.
    int context_length = 0;
    // Tokens at or above it are refused when they are read.
    int vocab_size = 0;
    // Seed of the order of the samples; see data/sample_order.h.
    uint64_t seed = 0;
  };

  // The bytes behind `shards` must outlive the source.
  // Errors: InvalidArgument for impossible options or too few tokens for one
  // sample.
  static absl::StatusOr<SampleSource> Create(std::vector<TokenShard> shards,
                                             const Options& options);

  uint64_t sample_count() const { return order_.sample_count(); }
  int context_length() const { return options_.context_length; }

  // Fills row r of `inputs` and `targets`, both [positions.size(), T], with
  // the sample at positions[r] of the run. Requires: the sizes fit.
  // Errors: DataLoss when a token does not belong to the vocabulary.
  absl::Status Fill(std::span<const uint64_t> positions,
                    std::span<int32_t> inputs,
                    std::span<int32_t> targets) const;

  // Calls use(bytes) for all that Fill reads for these positions.
  void EveryRange(
      std::span<const uint64_t> positions,
      absl::FunctionRef<void(std::span<const std::byte>)> use) const;

  // Does what Fill does with the `rows` samples from `first` on, in the order
  // of the stream. Requires: they exist, and the sizes fit.
  absl::Status FillInOrder(uint64_t first, int rows, std::span<int32_t> inputs,
                           std::span<int32_t> targets) const;

 private:
  SampleSource(std::vector<TokenShard> shards, std::vector<uint64_t> starts,
               uint64_t sample_count, const Options& options);
  absl::Status FillSample(uint64_t sample, std::span<int32_t> inputs,
                          std::span<int32_t> targets) const;
  // Calls use(shard, begin, count) for each part of a shard that holds some of
  // the `count` tokens of the stream from `begin` on.
  template <typename Use>
  void EveryPiece(uint64_t begin, uint64_t count, const Use& use) const;
  // Copies tokens [begin, begin + out.size()) of the stream.
  void Read(uint64_t begin, std::span<int32_t> out) const;

  std::vector<TokenShard> shards_;
  // Place in the stream of each shard's first token, then the stream's length.
  std::vector<uint64_t> starts_;
  Options options_;
  SampleOrder order_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_SAMPLE_SOURCE_H_
