// compression/cuda/scan.h
//
// Sums over the threads of a group, for .cu files. Groups are rows of
// kScanThreads threads, and all of them take part.
#ifndef SKERRY_COMPRESSION_CUDA_SCAN_H_
#define SKERRY_COMPRESSION_CUDA_SCAN_H_

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace skerry::compression::cuda {

constexpr unsigned kScanThreads = 256;

template <typename T>
struct Scan {
  T before;  // of the threads before this one
  T total;
};

// T is a number of 4 or 8 bytes without a sign.
template <typename T>
__device__ Scan<T> ScanGroup(T mine) {
  constexpr unsigned kWarp = 32;
  constexpr unsigned kEveryLane = 0xffffffffu;
  constexpr unsigned kWarps = kScanThreads / kWarp;
  __shared__ T sums[kWarps];
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  T sum = mine;
  for (unsigned step = 1; step < kWarp; step *= 2) {
    const T other = __shfl_up_sync(kEveryLane, sum, step);
    if (lane >= step) sum += other;
  }
  // Whoever still reads the sums of the last call.
  __syncthreads();
  if (lane == kWarp - 1) sums[warp] = sum;
  __syncthreads();
  Scan<T> result = {sum - mine, 0};
  for (unsigned i = 0; i < kWarps; ++i) {
    if (i < warp) result.before += sums[i];
    result.total += sums[i];
  }
  return result;
}

// Two sums over a tile of something, or over the tiles before it.
struct TileSums {
  uint64_t first;
  uint64_t second;
};

// Called by one group: replaces the sums of each tile with those before it.
// Returned are those of all.
__device__ inline TileSums ScanTiles(TileSums* tiles, size_t count) {
  TileSums before = {0, 0};
  for (size_t begin = 0; begin < count; begin += kScanThreads) {
    const size_t tile = begin + threadIdx.x;
    const TileSums own = tile < count ? tiles[tile] : TileSums{0, 0};
    const Scan<uint64_t> first = ScanGroup(own.first);
    const Scan<uint64_t> second = ScanGroup(own.second);
    if (tile < count) {
      tiles[tile] = {before.first + first.before,
                     before.second + second.before};
    }
    before.first += first.total;
    before.second += second.total;
  }
  return before;
}

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_CUDA_SCAN_H_
