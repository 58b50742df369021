// data/decompressor.h
//
// Unpacks compressed bytes, a piece at a time and in bounded memory.
#ifndef SKERRY_DATA_DECOMPRESSOR_H_
#define SKERRY_DATA_DECOMPRESSOR_H_

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/text_kind.h"

namespace skerry::data {

class Decompressor {
 public:
  virtual ~Decompressor() = default;

  struct Step {
    // Bytes of `in` that were used up, and of `out` that were made.
    size_t taken = 0;
    size_t made = 0;
  };
  // Takes from `in` and writes to `out`; at least one of both gets on unless
  // one of them is empty. Any bytes may be given. Errors: InvalidArgument with
  // one line for what is damaged, or needs more memory than is allowed; after
  // it the object is spent.
  virtual absl::StatusOr<Step> Next(std::span<const std::byte> in,
                                    std::span<std::byte> out) = 0;
  // Whether the compressed bytes may end where they are. Errors:
  // InvalidArgument, they are cut off.
  virtual absl::Status CheckEnd() const = 0;
};

// The largest window of zstd, which is that without its option --long. It
// bounds the memory of a decompressor.
inline constexpr int kZstdWindowLogMax = 27;

// Reads gzip members or zstd frames one after another, as the programs of these
// names do, and compares the checksums that they have. Requires: it is packed.
std::unique_ptr<Decompressor> MakeDecompressor(Packing packing);

}  // namespace skerry::data

#endif  // SKERRY_DATA_DECOMPRESSOR_H_
