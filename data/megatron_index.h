// data/megatron_index.h
//
// The .idx file of a Megatron-LM indexed data set, whose .bin file holds the
// tokens of its sequences one after the other.
#ifndef SKERRY_DATA_MEGATRON_INDEX_H_
#define SKERRY_DATA_MEGATRON_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "data/token_array.h"

namespace skerry::data {

struct MegatronIndex {
  ItemType type = ItemType::kU16;
  uint64_t sequences = 0;
  uint64_t tokens = 0;
};

// Any bytes may be given. Errors: InvalidArgument with one line that says what
// is wrong: no such index, items that are no whole numbers, a size that is not
// that of its counts, or sequences that do not follow one another.
absl::StatusOr<MegatronIndex> ParseMegatronIndex(
    std::span<const std::byte> bytes);

// The tokens in the .bin file of that index. Errors: InvalidArgument when it is
// of another size.
absl::StatusOr<TokenArray> MegatronTokens(const MegatronIndex& index,
                                          std::span<const std::byte> bin);

}  // namespace skerry::data

#endif  // SKERRY_DATA_MEGATRON_INDEX_H_
