// compression/sparse/sent_blocks.h
//
// The values of a selection by a dense codec, written part by part and read in
// steps: its blocks begin at every so many values that are sent, wherever parts
// begin.
#ifndef SKERRY_COMPRESSION_SPARSE_SENT_BLOCKS_H_
#define SKERRY_COMPRESSION_SPARSE_SENT_BLOCKS_H_

#include <algorithm>
#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "compression/cpu/sent.h"
#include "compression/dense_codec.h"
#include "compression/sparse/selection.h"
#include "compression/workspace.h"

namespace skerry::compression {

// Of a multiple of every codec's block.
inline constexpr size_t kBlockMost = 256;

// Of one payload. Parts may be written at once; then Finish() is called.
class SentBlocks {
 public:
  // `values` is where the inner codec's payload begins. All outlive this.
  SentBlocks(const Selection& selection, const DenseCodec& inner,
             std::byte* values, Workspace& workspace)
      : selection_(selection),
        inner_(inner),
        block_(inner.BlockElements()),
        values_(values),
        workspace_(workspace),
        sent_(workspace.sent.Room(selection.sent)) {}

  // Calls read(values), which writes at most cpu::kSentRoom of what a part
  // sends and returns how many, until there is no more.
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

  // All that a part sends, in order.
  void WritePart(const PartScratch& part, std::span<const float> all) const {
    const size_t used = WriteBlocks(all, part.at);
    std::copy(all.begin() + static_cast<ptrdiff_t>(used), all.end(),
              sent_ + part.at + used);
  }

  // Writes what no part has all of. Errors: as the inner codec's Encode.
  absl::Status Finish() const;

 private:
  // Of values from `at` on, those that no later value shares a block with;
  // returns how many.
  size_t WriteBlocks(std::span<const float> values, size_t at) const;

  const Selection& selection_;
  const DenseCodec& inner_;
  const size_t block_;
  std::byte* const values_;
  Workspace& workspace_;
  float* const sent_;  // that are not in a block yet
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_SPARSE_SENT_BLOCKS_H_
