// compression/dense/cpu/block_kernels.h
//
// Does what all codecs share whose values come in blocks. A payload has the
// scales of all blocks first, then a code of the same number of bits for each
// value. A codec is its Layout and the three functions that take a part of a
// slice.
//
// A Layout has
//   kElements                values of a block
//   kScaleBytes              bytes of a block's scale, 0 for none
//   kCodeBits                bits of a value's code; a block's codes are whole
//                            bytes
//   BehindMask(elements)     bits of the last byte that hold no value
#ifndef SKERRY_COMPRESSION_DENSE_CPU_BLOCK_KERNELS_H_
#define SKERRY_COMPRESSION_DENSE_CPU_BLOCK_KERNELS_H_

#include <cstddef>
#include <span>

#include "compression/dense/cpu/stores.h"

namespace skerry::compression::cpu {

template <typename Layout>
struct BlockKernels : Layout {
  static constexpr size_t kBlockCodeBytes =
      Layout::kElements * Layout::kCodeBits / 8;

  static constexpr size_t Blocks(size_t elements) {
    return (elements + Layout::kElements - 1) / Layout::kElements;
  }
  static constexpr size_t ScaleBytes(size_t elements) {
    return Blocks(elements) * Layout::kScaleBytes;
  }
  static constexpr size_t CodeBytes(size_t elements) {
    return (elements * Layout::kCodeBits + 7) / 8;
  }
  static constexpr size_t Bytes(size_t elements) {
    return ScaleBytes(elements) + CodeBytes(elements);
  }

  // These work on the values of a slice of `count` that begin at `begin`, and
  // touch their bytes of its payload alone, so that parts may be worked on at
  // once. `begin` is the first value of a block; the last value is the last of
  // a block or of the slice.

  // False, with the part's bytes unspecified, when a value is not finite.
  static bool EncodeBlocks(std::span<const float> values, size_t begin,
                           size_t count, std::byte* payload,
                           Stores stores = Stores::kCached);
  // False, with the part's values unspecified, when the codec's page refuses a
  // scale, a code or a bit behind the last value.
  static bool DecodeBlocks(const std::byte* payload, size_t begin, size_t count,
                           std::span<float> values,
                           Stores stores = Stores::kCached);
  static bool DecodeAddBlocks(const std::byte* payload, size_t begin,
                              size_t count, std::span<float> accumulators);

  // These take whole slices. Payloads have Bytes(values.size()) bytes.
  static bool Encode(std::span<const float> values, std::byte* payload) {
    return EncodeBlocks(values, 0, values.size(), payload);
  }
  static bool Decode(const std::byte* payload, std::span<float> values) {
    return DecodeBlocks(payload, 0, values.size(), values);
  }
  static bool DecodeAdd(const std::byte* payload,
                        std::span<float> accumulators) {
    return DecodeAddBlocks(payload, 0, accumulators.size(), accumulators);
  }
};

// The base of layouts whose codes are whole bytes.
struct WholeByteCodes {
  static constexpr unsigned BehindMask(size_t /*elements*/) { return 0; }
};

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_DENSE_CPU_BLOCK_KERNELS_H_
