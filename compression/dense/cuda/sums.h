// compression/dense/cuda/sums.h
//
// Adds terms of the values of blocks of 256, such as their squares, on a
// device, in the order of compression/dense/cpu/sums-inl.h. One warp takes two
// blocks, 32 values at a time.
#ifndef SKERRY_COMPRESSION_DENSE_CUDA_SUMS_H_
#define SKERRY_COMPRESSION_DENSE_CUDA_SUMS_H_

#include <cuda_runtime.h>

#include <cstddef>

#include "compression/dense/cpu/rms.h"

namespace skerry::compression::cuda {

constexpr int kWarp = 32;
constexpr int kWarpsPerGroup = 8;
constexpr int kBlock = 256;
constexpr int kRows = kBlock / kWarp;
constexpr int kBlocksPerWarp = 2;
// The partial sums of a block: value i goes to sum i % kSums.
constexpr int kSums = 16;
static_assert(kSums * kBlocksPerWarp == kWarp);
constexpr unsigned kEveryLane = 0xffffffffu;

// The number of this warp; the launch may have more warps than work.
__device__ inline size_t Warp() {
  return static_cast<size_t>(blockIdx.x) * kWarpsPerGroup + threadIdx.y;
}

// Values of the block that begins at `begin`.
__device__ inline int SizeOf(size_t begin, size_t count) {
  return static_cast<int>(min(count - begin, static_cast<size_t>(kBlock)));
}

// What a lane has of a block: values lane, lane + 32, and so on; 0 behind the
// last one.
struct Strided {
  float at[kRows];
};

__device__ inline Strided Load(const float* values, size_t begin,
                               size_t count) {
  Strided own;
  for (int k = 0; k < kRows; ++k) {
    const size_t i = begin + k * kWarp + threadIdx.x;
    own.at[k] = i < count ? values[i] : 0.0f;
  }
  return own;
}

// In the order of the processor's sums: that of block 0 in lane 0, that of
// block 1 in lane 16. A lane has one of the 16 sums of its block. It gives the
// lane 16 away its value of the other block, and gets that lane's value of its
// own block. A term of 0, which is that of the values behind the last one,
// changes no sum.
template <typename Term>
__device__ double SumOf(const Strided (&block)[kBlocksPerWarp],
                        const Term& term) {
  const int lane = static_cast<int>(threadIdx.x);
  const bool upper = lane >= kSums;
  double sum = 0.0;
  for (int k = 0; k < kRows; ++k) {
    const float kept = upper ? block[1].at[k] : block[0].at[k];
    const float given = upper ? block[0].at[k] : block[1].at[k];
    const float got = __shfl_sync(kEveryLane, given, lane ^ kSums);
    sum = __dadd_rn(sum, term(upper ? got : kept));
    sum = __dadd_rn(sum, term(upper ? kept : got));
  }
  for (int step = kSums / 2; step > 0; step /= 2) {
    const double other = __shfl_down_sync(kEveryLane, sum, step);
    if (lane % kSums < step) sum = __dadd_rn(sum, other);
  }
  return sum;
}

struct Square {
  __device__ double operator()(float value) const {
    return __dmul_rn(static_cast<double>(value), static_cast<double>(value));
  }
};

// As cpu::RmsScale().
__device__ inline float ScaleOf(double sum_of_squares, size_t count) {
  const double rms =
      __dsqrt_rn(__ddiv_rn(sum_of_squares, static_cast<double>(count)));
  return rms < cpu::kRmsScaleMin ? 0.0f : __double2float_rn(rms);
}

struct Shape {
  dim3 groups;
  dim3 threads;
};

// For `count` values, when each warp takes so many blocks.
inline Shape ShapeFor(size_t count, size_t blocks_per_warp) {
  const size_t blocks_per_group = kWarpsPerGroup * blocks_per_warp;
  const size_t blocks = (count + kBlock - 1) / kBlock;
  return {dim3(static_cast<unsigned>((blocks + blocks_per_group - 1) /
                                     blocks_per_group)),
          dim3(kWarp, kWarpsPerGroup)};
}

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_DENSE_CUDA_SUMS_H_
