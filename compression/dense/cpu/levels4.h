// compression/dense/cpu/levels4.h
//
// Lists the levels of the 4-bit codecs by code, in parts of a block's scale.
// Processors and devices use the same numbers.
#ifndef SKERRY_COMPRESSION_DENSE_CPU_LEVELS4_H_
#define SKERRY_COMPRESSION_DENSE_CPU_LEVELS4_H_

#include <cstdint>

namespace skerry::compression::cpu {

struct Levels16 {
  float values[16];
};

// QLoRA (Dettmers et al. 2023), appendix E.
inline constexpr Levels16 kNf4Levels = {
    {-1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f,
     -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f, 0.0f,
     0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f,
     0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f,
     0.7229568362236023f, 1.0f}};

// Bit 3 is the sign; code 8 has no value of its own.
inline constexpr Levels16 kE3m0Levels = {
    {0.0f, 0x1p-6f, 0x1p-5f, 0x1p-4f, 0x1p-3f, 0x1p-2f, 0x1p-1f, 1.0f, -0.0f,
     -0x1p-6f, -0x1p-5f, -0x1p-4f, -0x1p-3f, -0x1p-2f, -0x1p-1f, -1.0f}};

inline constexpr uint8_t kNf4Zero = 7;
inline constexpr uint8_t kE3m0MinusZero = 8;

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_DENSE_CPU_LEVELS4_H_
