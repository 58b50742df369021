// compression/cuda/emulation/include/cuda_fp16.h
//
// Stands in for the header of that name where kernels run on the processor:
// conversions of IEEE halves.
#ifndef SKERRY_COMPRESSION_CUDA_EMULATION_INCLUDE_CUDA_FP16_H_
#define SKERRY_COMPRESSION_CUDA_EMULATION_INCLUDE_CUDA_FP16_H_

#include <algorithm>
#include <cmath>
#include <limits>

struct __half {
  unsigned short bits;
};

inline unsigned short __half_as_ushort(__half half) { return half.bits; }
inline __half __ushort_as_half(unsigned short bits) { return {bits}; }

// To nearest, ties to even.
inline __half __float2half_rn(float value) {
  const unsigned sign = std::signbit(value) ? 0x8000u : 0u;
  const double size = std::fabs(static_cast<double>(value));
  unsigned bits = 0;
  if (std::isnan(value)) {
    bits = 0x7fff;
  } else if (size >= 65520.0) {
    bits = 0x7c00;
  } else if (size > 0.0) {
    // Steps of the power of two below it, or of subnormals.
    const int exponent = std::max(std::ilogb(size), -14);
    bits = static_cast<unsigned>(exponent + 14) << 10;
    bits += static_cast<unsigned>(std::lrint(std::ldexp(size, 10 - exponent)));
  }
  return {static_cast<unsigned short>(sign | bits)};
}

inline float __half2float(__half half) {
  const int exponent = half.bits >> 10 & 31;
  const int fraction = half.bits & 1023;
  float size = std::numeric_limits<float>::infinity();
  if (exponent < 31) {
    size = std::ldexp(
        static_cast<float>(exponent == 0 ? fraction : fraction + 1024),
        std::max(exponent, 1) - 25);
  } else if (fraction != 0) {
    size = std::numeric_limits<float>::quiet_NaN();
  }
  return half.bits >> 15 != 0 ? -size : size;
}

#endif  // SKERRY_COMPRESSION_CUDA_EMULATION_INCLUDE_CUDA_FP16_H_
