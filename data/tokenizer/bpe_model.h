// data/tokenizer/bpe_model.h
//
// Byte-pair encoding of one piece of text (Sennrich et al. 2016). It starts
// with the bytes and joins neighbours by the rules of a list, the earliest rule
// first.
#ifndef SKERRY_DATA_TOKENIZER_BPE_MODEL_H_
#define SKERRY_DATA_TOKENIZER_BPE_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace skerry::data {

// Tokens `left` and `right`, side by side, become `result`.
struct MergeRule {
  int32_t left = 0;
  int32_t right = 0;
  int32_t result = 0;
};

class BpeModel {
 public:
  struct Parts {
    // The token of every byte.
    std::array<int32_t, 256> byte_tokens{};
    // The earliest has precedence.
    std::vector<MergeRule> merges;
    // Pieces that are one token whatever the merges say, by their bytes.
    absl::flat_hash_map<std::string, int32_t> whole_pieces;
  };
  // What an encoding thread keeps between pieces, so that it need not allocate.
  struct Scratch {
    std::vector<int32_t> tokens;
    std::vector<uint32_t> ranks;
    std::vector<uint32_t> before;
    std::vector<uint32_t> after;
    std::vector<uint64_t> heap;
  };

  // Errors: InvalidArgument when two rules join the same pair.
  static absl::StatusOr<BpeModel> Create(Parts parts);

  // Appends the tokens of `piece`. Requires: fewer than 2^32 - 1 bytes.
  void Encode(std::string_view piece, Scratch& scratch,
              std::vector<int32_t>& out) const;

 private:
  struct Merge {
    uint32_t rank = 0;
    int32_t result = 0;
  };

  explicit BpeModel(Parts parts) : parts_(std::move(parts)) {}
  const Merge* Find(int32_t left, int32_t right) const;
  uint32_t RankOf(int32_t left, int32_t right) const;
  // Each leaves the tokens in scratch.tokens. The first looks at all pairs
  // for every merge, the second keeps them in a heap.
  void MergeFew(Scratch& scratch) const;
  void MergeMany(Scratch& scratch) const;

  Parts parts_;
  absl::flat_hash_map<uint64_t, Merge> merges_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_BPE_MODEL_H_
