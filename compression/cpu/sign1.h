// compression/cpu/sign1.h
//
// The kernels of CodecId::kSign1 and kSign1Whole: one bit a value, and the root
// mean square of those that share a scale. The mean square is summed in float64
// in an order that no vector length changes (docs/formats/codecs.md). Without
// error feedback one bit loses most of what it is given.
#ifndef SKERRY_COMPRESSION_CPU_SIGN1_H_
#define SKERRY_COMPRESSION_CPU_SIGN1_H_

#include <algorithm>
#include <cstddef>
#include <span>

namespace skerry::compression::cpu {

// Values of one summation, and of one scale of kSign1.
inline constexpr size_t kSign1Block = 256;
// A root mean square below this is 0 on the wire.
inline constexpr float kSign1ScaleMin = 0x1p-80f;

// kWhole: one scale for all values instead of one a block.
template <bool kWhole>
struct Sign1Kernels {
  static size_t Scales(size_t elements) {
    const size_t blocks = (elements + kSign1Block - 1) / kSign1Block;
    return kWhole ? std::min<size_t>(blocks, 1) : blocks;
  }
  // All scales come first, then the bits.
  static size_t Bytes(size_t elements) {
    return Scales(elements) * sizeof(float) + (elements + 7) / 8;
  }

  // Writes Bytes(values.size()) bytes. False, with `out` unspecified, when a
  // value is not finite.
  static bool Encode(std::span<const float> values, std::byte* out);

  // Reads Bytes(values.size()) bytes. False, with `values` unspecified, when a
  // scale is neither 0 nor finite and at least kSign1ScaleMin, or a bit behind
  // the last value is set.
  static bool Decode(const std::byte* payload, std::span<float> values);
  static bool DecodeAdd(const std::byte* payload,
                        std::span<float> accumulators);
};

using Sign1 = Sign1Kernels<false>;
using Sign1Whole = Sign1Kernels<true>;

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CPU_SIGN1_H_
