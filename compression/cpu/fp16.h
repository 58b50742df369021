// compression/cpu/fp16.h
//
// The kernels of CodecId::kFp16: each value rounded to the nearest half, ties
// to even. A value beyond the largest half takes it, so this codec is for
// values that are known to be below 65504.
#ifndef SKERRY_COMPRESSION_CPU_FP16_H_
#define SKERRY_COMPRESSION_CPU_FP16_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace skerry::compression::cpu {

struct Fp16 {
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

#endif  // SKERRY_COMPRESSION_CPU_FP16_H_
