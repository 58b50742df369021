// compression/top_k/sent_blocks.h
//
// Writes the values of a selection in a dense codec, part by part. The codec's
// blocks count over all values that are sent, so a block may have values of
// several parts.
#ifndef SKERRY_COMPRESSION_TOP_K_SENT_BLOCKS_H_
#define SKERRY_COMPRESSION_TOP_K_SENT_BLOCKS_H_

#include <algorithm>
#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "compression/dense/dense_codec.h"
#include "compression/top_k/cpu/sent.h"
#include "compression/top_k/selection.h"
#include "compression/workspace.h"

namespace skerry::compression {

// A multiple of the block size of every codec, in values.
inline constexpr size_t kBlockMost = 256;

// Writes the values of one payload. Several parts may be written at once.
// Finish() is called after all of them.
class SentBlocks {
 public:
  // `values` is where the inner codec's payload begins. All arguments outlive
  // this.
  SentBlocks(const Selection& selection, const DenseCodec& inner,
             std::byte* values, Workspace& workspace)
      : selection_(selection),
        inner_(inner),
        block_(inner.BlockElements()),
        values_(values),
        workspace_(workspace),
        sent_(workspace.sent.Room(selection.sent)) {}

  // Writes what a part sends. Calls read(values) until it returns 0. Each call
  // writes at most cpu::kSentRoom of these values and returns how many.
  template <typename Read>
  void WritePart(const PartScratch& part, const Read& read) const {
    float values[kBlockMost + cpu::kSentRoom];
    size_t at = part.at;
    size_t held = 0;
    while (const size_t fresh = read(values + held)) {
      held += fresh;
      const size_t used = WriteBlocks({values, held}, at);
      at += used;
      held -= used;
      std::copy_n(values + used, held, values);
    }
    std::copy_n(values, held, sent_ + at);
  }

  // Writes what a part sends. `all` has it in order.
  void WritePart(const PartScratch& part, std::span<const float> all) const {
    const size_t used = WriteBlocks(all, part.at);
    std::copy(all.begin() + static_cast<ptrdiff_t>(used), all.end(),
              sent_ + part.at + used);
  }

  // Writes the blocks that no part has all values of, or, by a codec without
  // blocks, everything. Errors: as the inner codec's Encode.
  absl::Status Finish() const;

 private:
  // Takes values from the front of `values`, which begin at number `at` of the
  // selection, and returns how many. Those before the first block boundary go
  // to `sent_`, whole blocks are encoded, and a last block that is cut is not
  // taken. A codec without blocks has everything go to `sent_`.
  size_t WriteBlocks(std::span<const float> values, size_t at) const;

  const Selection& selection_;
  const DenseCodec& inner_;
  const size_t block_;
  std::byte* const values_;
  Workspace& workspace_;
  float* const sent_;  // values that Finish() encodes
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TOP_K_SENT_BLOCKS_H_
