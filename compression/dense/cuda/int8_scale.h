// compression/dense/cuda/int8_scale.h
//
// Computes the scale and the codes of values that share a scale, for .cu files.
// They are those of compression/dense/cpu/int8_block.h, however many values
// that are.
#ifndef SKERRY_COMPRESSION_DENSE_CUDA_INT8_SCALE_H_
#define SKERRY_COMPRESSION_DENSE_CUDA_INT8_SCALE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "compression/dense/cpu/int8_block.h"

namespace skerry::compression::cuda {

struct Int8Scale {
  float scale;
  float inverse;  // 0 where all codes are
};

// Returns the scale of values whose largest magnitude is a finite `absmax`.
__device__ inline Int8Scale Int8ScaleOf(float absmax) {
  constexpr float kAbsMaxMin = cpu::Int8Block::kAbsMaxMin;
  constexpr float kScaleMax = cpu::Int8Block::kScaleMax;
  if (absmax < kAbsMaxMin) return {0.0f, 0.0f};
  return {fminf(__fdiv_rn(absmax, 127.0f), kScaleMax),
          __fdiv_rn(127.0f, absmax)};
}

__device__ inline int8_t Int8CodeOf(float value, const Int8Scale& scale) {
  return static_cast<int8_t>(__float2int_rn(__fmul_rn(value, scale.inverse)));
}

// These are false for a scale and for a code that a decoder refuses.
__device__ inline bool IsInt8Scale(float scale) {
  constexpr float kScaleMin = cpu::Int8Block::kScaleMin;
  constexpr float kScaleMax = cpu::Int8Block::kScaleMax;
  return scale == 0.0f || (scale >= kScaleMin && scale <= kScaleMax);
}
__device__ inline bool IsInt8Code(int8_t code) { return code != -128; }

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_DENSE_CUDA_INT8_SCALE_H_
