// compression/cpu/bf16.h
//
// The kernels of CodecId::kBf16: the upper half of each fp32 value, rounded to
// nearest even. A value that would round to infinity takes the largest finite
// bf16, so the relative error stays within 2^-8 everywhere but among
// subnormals.
#ifndef SKERRY_COMPRESSION_CPU_BF16_H_
#define SKERRY_COMPRESSION_CPU_BF16_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace skerry::compression::cpu {

struct Bf16 {
  static size_t Bytes(size_t elements) { return elements * sizeof(uint16_t); }

  // Writes Bytes(values.size()) bytes. False, with `out` unspecified, when a
  // value is not finite.
  static bool Encode(std::span<const float> values, std::byte* out);

  // Reads Bytes(values.size()) bytes. False, with `values` unspecified, when
  // they hold a NaN or an infinity.
  static bool Decode(const std::byte* payload, std::span<float> values);
  static bool DecodeAdd(const std::byte* payload,
                        std::span<float> accumulators);
};

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CPU_BF16_H_
