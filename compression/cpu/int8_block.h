// compression/cpu/int8_block.h
//
// The kernels of CodecId::kInt8Block: 256 values share the scale
// absmax / 127, each becomes the nearest of 255 multiples of it.
//
// All arithmetic stays among normal fp32 numbers, so threads or devices that
// flush subnormals agree with those that do not: a block whose absmax is below
// 2^-100 gets scale 0 and codes 0.
#ifndef SKERRY_COMPRESSION_CPU_INT8_BLOCK_H_
#define SKERRY_COMPRESSION_CPU_INT8_BLOCK_H_

#include <cstddef>
#include <span>

namespace skerry::compression::cpu {

struct Int8Block {
  static constexpr size_t kElements = 256;
  // Blocks below this absmax are zero on the wire.
  static constexpr float kAbsMaxMin = 0x1p-100f;
  // Scales that a decoder takes beside 0. The lower bound is that of
  // kAbsMaxMin / 127; 127 times the upper one is finite.
  static constexpr float kScaleMin = 0x1p-107f;
  static constexpr float kScaleMax = 0x1.020406p+121f;

  static size_t Blocks(size_t elements) {
    return (elements + kElements - 1) / kElements;
  }
  // All scales come first, then one code an element.
  static size_t Bytes(size_t elements) {
    return Blocks(elements) * sizeof(float) + elements;
  }

  // Writes Bytes(values.size()) bytes. False, with `out` unspecified, when a
  // value is not finite.
  static bool Encode(std::span<const float> values, std::byte* out);

  // Reads Bytes(values.size()) bytes. False, with `values` unspecified, when a
  // scale is neither 0 nor in [kScaleMin, kScaleMax], or a code is -128.
  static bool Decode(const std::byte* payload, std::span<float> values);
  static bool DecodeAdd(const std::byte* payload,
                        std::span<float> accumulators);
};

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CPU_INT8_BLOCK_H_
