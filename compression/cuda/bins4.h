// compression/cuda/bins4.h
//
// Sums in the order of compression/cpu/bins4.h, for .cu files: a lane each for
// values i % 16, and the second half of these is added to the first until one
// is left.
#ifndef SKERRY_COMPRESSION_CUDA_BINS4_H_
#define SKERRY_COMPRESSION_CUDA_BINS4_H_

#include <cuda_runtime.h>

namespace skerry::compression::cuda {

constexpr unsigned kSums = 16;

// The sum over kSums lanes, in the first of them. Called by whole warps.
template <typename T>
__device__ T Folded(T sum) {
  for (unsigned half = kSums / 2; half > 0; half /= 2) {
    const T other = __shfl_down_sync(0xffffffffu, sum, half);
    if (threadIdx.x % kSums < half) sum += other;
  }
  return sum;
}

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_CUDA_BINS4_H_
