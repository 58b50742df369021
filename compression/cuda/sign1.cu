#include <cfloat>
#include <cstdint>

#include "compression/cpu/sign1.h"
#include "compression/cuda/launch.h"
#include "compression/cuda/sign1.h"

namespace skerry::compression::cuda {
namespace {

using Reference = cpu::Sign1;
using Whole = cpu::Sign1Whole;

// One warp takes one block of 256 values, 32 at a time.
constexpr int kWarp = 32;
constexpr int kWarpsPerGroup = 8;
constexpr int kBlock = Reference::kElements;
constexpr int kBlockBytes = Reference::kBlockCodeBytes;
// The partial sums of a block: value i goes to sum i % kSums.
constexpr int kSums = 16;
constexpr unsigned kEveryLane = 0xffffffffu;
constexpr float kScaleMin = cpu::kSign1ScaleMin;
constexpr int kSumThreads = 256;
constexpr int kSumsAtOnce = 1024;

// The block of this warp; the launch may have more warps than blocks.
__device__ size_t Block() {
  return static_cast<size_t>(blockIdx.x) * kWarpsPerGroup + threadIdx.y;
}

__device__ int SizeOf(size_t begin, size_t count) {
  return static_cast<int>(min(count - begin, static_cast<size_t>(kBlock)));
}

// In the order of the processor's sums; in lane 0.
__device__ double SumOfSquares(const float* values, int size) {
  const int lane = static_cast<int>(threadIdx.x);
  double sum = 0.0;
  if (lane < kSums) {
    for (int i = lane; i < size; i += kSums) {
      const double x = values[i];
      sum = __dadd_rn(sum, __dmul_rn(x, x));
    }
  }
  for (int step = kSums / 2; step > 0; step /= 2) {
    const double other = __shfl_down_sync(kEveryLane, sum, step);
    if (lane < step) sum = __dadd_rn(sum, other);
  }
  return sum;
}

__device__ float ScaleOf(double sum_of_squares, size_t count) {
  const double rms =
      __dsqrt_rn(__ddiv_rn(sum_of_squares, static_cast<double>(count)));
  return rms < kScaleMin ? 0.0f : __double2float_rn(rms);
}

// What a block leaves beside its bits.
struct OwnScales {
  float* scales;
  __device__ void Take(size_t block, double sum, int size) const {
    scales[block] = ScaleOf(sum, static_cast<size_t>(size));
  }
};
struct OwnSums {
  double* sums;
  __device__ void Take(size_t block, double sum, int /*size*/) const {
    sums[block] = sum;
  }
};

template <typename Taker>
__global__ void EncodeKernel(const float* values, size_t count, Taker taker,
                             uint8_t* bits, int* bad) {
  const size_t block = Block();
  const size_t begin = block * kBlock;
  if (begin >= count) return;
  const int size = SizeOf(begin, count);
  const int lane = static_cast<int>(threadIdx.x);
  const double sum = SumOfSquares(values + begin, size);
  if (lane == 0) {
    if (!isfinite(sum)) *bad = 1;
    taker.Take(block, sum, size);
  }
  for (int first = 0; first < size; first += kWarp) {
    const int i = first + lane;
    const bool positive =
        i < size && (__float_as_uint(values[begin + i]) >> 31) == 0;
    // The first value is the highest bit of the first byte.
    const unsigned word = __brev(__ballot_sync(kEveryLane, positive));
    const int bytes = min((size - first + 7) / 8, kWarp / 8);
    if (lane < bytes) {
      bits[block * kBlockBytes + first / 8 + lane] =
          static_cast<uint8_t>(word >> (24 - 8 * lane));
    }
  }
}

// One group. One thread adds the sums in the order of the blocks, as the
// processor does; the others bring them nearer.
__global__ void WriteScale(const double* sums, size_t blocks, size_t count,
                           float* scale) {
  __shared__ double near[kSumsAtOnce];
  double total = 0.0;
  for (size_t first = 0; first < blocks; first += kSumsAtOnce) {
    const int some =
        static_cast<int>(min(blocks - first, static_cast<size_t>(kSumsAtOnce)));
    for (int i = static_cast<int>(threadIdx.x); i < some; i += kSumThreads) {
      near[i] = sums[first + i];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 0; i < some; ++i) total = __dadd_rn(total, near[i]);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *scale = ScaleOf(total, count);
}

template <bool kAdd, bool kWhole>
__global__ void DecodeKernel(const float* scales, const uint8_t* bits,
                             size_t count, float* values, int* bad) {
  const size_t block = Block();
  const size_t begin = block * kBlock;
  if (begin >= count) return;
  const int size = SizeOf(begin, count);
  const int lane = static_cast<int>(threadIdx.x);
  const float scale = scales[kWhole ? 0 : block];
  const bool good =
      __float_as_uint(scale) == 0 || (scale >= kScaleMin && scale <= FLT_MAX);
  const uint8_t* own = bits + block * kBlockBytes;
  const bool clean =
      size % 8 == 0 || (own[size / 8] & (0xff >> (size % 8))) == 0;
  if ((!good || !clean) && lane == 0) *bad = 1;
  for (int i = lane; i < size; i += kWarp) {
    const bool positive = (own[i / 8] >> (7 - i % 8) & 1) != 0;
    const float value = positive ? scale : -scale;
    values[begin + i] = kAdd ? __fadd_rn(values[begin + i], value) : value;
  }
}

struct Shape {
  dim3 groups;
  dim3 threads;
};

Shape ShapeFor(size_t count) {
  const size_t blocks = Reference::Blocks(count);
  return {dim3(static_cast<unsigned>((blocks + kWarpsPerGroup - 1) /
                                     kWarpsPerGroup)),
          dim3(kWarp, kWarpsPerGroup)};
}

template <typename Kernels, typename Taker>
cudaError_t LaunchEncode(const float* values, size_t count, std::byte* payload,
                         Taker taker, int* bad, cudaStream_t stream) {
  const Shape shape = ShapeFor(count);
  return Launch(
      EncodeKernel<Taker>, shape.groups, shape.threads, stream, values, count,
      taker, reinterpret_cast<uint8_t*>(payload + Kernels::ScaleBytes(count)),
      bad);
}

template <typename Kernels, bool kAdd>
cudaError_t LaunchDecode(const std::byte* payload, size_t count, float* values,
                         int* bad, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const Shape shape = ShapeFor(count);
  return Launch(
      DecodeKernel<kAdd, Kernels::kScaleBytes == 0>, shape.groups,
      shape.threads, stream, reinterpret_cast<const float*>(payload),
      reinterpret_cast<const uint8_t*>(payload + Kernels::ScaleBytes(count)),
      count, values, bad);
}

}  // namespace

cudaError_t EncodeSign1(const float* values, size_t count, std::byte* payload,
                        int* bad, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return LaunchEncode<Reference>(values, count, payload,
                                 OwnScales{reinterpret_cast<float*>(payload)},
                                 bad, stream);
}

cudaError_t DecodeSign1(const std::byte* payload, size_t count, float* values,
                        int* bad, cudaStream_t stream) {
  return LaunchDecode<Reference, false>(payload, count, values, bad, stream);
}

cudaError_t DecodeAddSign1(const std::byte* payload, size_t count,
                           float* accumulators, int* bad, cudaStream_t stream) {
  return LaunchDecode<Reference, true>(payload, count, accumulators, bad,
                                       stream);
}

cudaError_t EncodeSign1Whole(const float* values, size_t count,
                             std::byte* payload, double* sums, int* bad,
                             cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const cudaError_t error =
      LaunchEncode<Whole>(values, count, payload, OwnSums{sums}, bad, stream);
  if (error != cudaSuccess) return error;
  return Launch(WriteScale, 1, kSumThreads, stream, sums, Whole::Blocks(count),
                count, reinterpret_cast<float*>(payload));
}

cudaError_t DecodeSign1Whole(const std::byte* payload, size_t count,
                             float* values, int* bad, cudaStream_t stream) {
  return LaunchDecode<Whole, false>(payload, count, values, bad, stream);
}

cudaError_t DecodeAddSign1Whole(const std::byte* payload, size_t count,
                                float* accumulators, int* bad,
                                cudaStream_t stream) {
  return LaunchDecode<Whole, true>(payload, count, accumulators, bad, stream);
}

}  // namespace skerry::compression::cuda
