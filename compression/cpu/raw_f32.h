// compression/cpu/raw_f32.h
//
// The kernels of CodecId::kRawF32: the values themselves, little-endian. They
// exist so that "no compression" refuses NaN and infinity like every codec.
#ifndef SKERRY_COMPRESSION_CPU_RAW_F32_H_
#define SKERRY_COMPRESSION_CPU_RAW_F32_H_

#include <cstddef>
#include <span>

namespace skerry::compression::cpu {

struct RawF32 {
  static size_t Bytes(size_t elements) { return elements * sizeof(float); }

  // Writes Bytes(values.size()) bytes. False, with `out` unspecified, when a
  // value is not finite.
  static bool Encode(std::span<const float> values, std::byte* out);

  // Reads Bytes(values.size()) bytes. False, with `values` unspecified, when
  // they are no encoding.
  static bool Decode(const std::byte* payload, std::span<float> values);
  static bool DecodeAdd(const std::byte* payload,
                        std::span<float> accumulators);
};

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CPU_RAW_F32_H_
