// compression/dense/cpu/rms.h
//
// Gives the scale of codecs whose values share their root mean square.
#ifndef SKERRY_COMPRESSION_DENSE_CPU_RMS_H_
#define SKERRY_COMPRESSION_DENSE_CPU_RMS_H_

#include <cmath>
#include <cstddef>

namespace skerry::compression::cpu {

// A root mean square below this is 0 on the wire.
inline constexpr float kRmsScaleMin = 0x1p-80f;

// The scale of `count` values, at least one, in fp32.
inline float RmsScale(double sum_of_squares, size_t count) {
  const double rms = std::sqrt(sum_of_squares / static_cast<double>(count));
  return rms < kRmsScaleMin ? 0.0f : static_cast<float>(rms);
}

}  // namespace skerry::compression::cpu

#endif  // SKERRY_COMPRESSION_DENSE_CPU_RMS_H_
