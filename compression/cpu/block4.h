// compression/cpu/block4.h
//
// The kernels of the 4-bit codecs: 64 values share a scale, each becomes the
// nearest of 16 multiples of it. The levels are those of NF4 (quantiles of a
// normal distribution) or of E3M0 (a sign and powers of two); the scale is the
// block's largest magnitude in fp32, or in bf16 rounded up.
#ifndef SKERRY_COMPRESSION_CPU_BLOCK4_H_
#define SKERRY_COMPRESSION_CPU_BLOCK4_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace skerry::compression::cpu {

enum class Levels4 { kNf4, kE3m0 };
enum class Scale4 { kF32, kBf16 };

inline constexpr size_t kBlock4Elements = 64;
// Blocks whose largest magnitude is below this are zero on the wire; all other
// scales are at least this.
inline constexpr float kBlock4ScaleMin = 0x1p-100f;

template <Levels4 kLevels, Scale4 kScale>
struct Block4 {
  using Scale = std::conditional_t<kScale == Scale4::kF32, uint32_t, uint16_t>;

  static size_t Blocks(size_t elements) {
    return (elements + kBlock4Elements - 1) / kBlock4Elements;
  }
  // All scales come first, then two codes a byte.
  static size_t Bytes(size_t elements) {
    return Blocks(elements) * sizeof(Scale) + (elements + 1) / 2;
  }

  // Writes Bytes(values.size()) bytes. False, with `out` unspecified, when a
  // value is not finite.
  static bool Encode(std::span<const float> values, std::byte* out);

  // Reads Bytes(values.size()) bytes. False, with `values` unspecified, when a
  // scale is neither 0 nor finite and at least kBlock4ScaleMin, a code is the
  // minus zero of E3M0, or the half byte behind the last value is not 0.
  static bool Decode(const std::byte* payload, std::span<float> values);
  static bool DecodeAdd(const std::byte* payload,
                        std::span<float> accumulators);
};

using Nf4 = Block4<Levels4::kNf4, Scale4::kBf16>;
using Nf4F32 = Block4<Levels4::kNf4, Scale4::kF32>;
using E3m0 = Block4<Levels4::kE3m0, Scale4::kBf16>;
using E3m0F32 = Block4<Levels4::kE3m0, Scale4::kF32>;

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_CPU_BLOCK4_H_
