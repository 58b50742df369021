#include <cfloat>
#include <cstdint>

#include "compression/cpu/sign1.h"
#include "compression/cuda/launch.h"
#include "compression/cuda/sign1.h"

namespace skerry::compression::cuda {
namespace {

using Reference = cpu::Sign1;

// One warp takes one block of 256 values, 32 at a time.
constexpr int kWarp = 32;
constexpr int kWarpsPerGroup = 8;
constexpr int kBlock = Reference::kElements;
constexpr int kBlockBytes = Reference::kBlockCodeBytes;
// The partial sums of a block: value i goes to sum i % kSums.
constexpr int kSums = 16;
constexpr unsigned kEveryLane = 0xffffffffu;
constexpr float kScaleMin = cpu::kSign1ScaleMin;

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

__global__ void EncodeKernel(const float* values, size_t count, float* scales,
                             uint8_t* bits, int* bad) {
  const size_t block = Block();
  const size_t begin = block * kBlock;
  if (begin >= count) return;
  const int size = SizeOf(begin, count);
  const int lane = static_cast<int>(threadIdx.x);
  const double sum = SumOfSquares(values + begin, size);
  if (lane == 0) {
    const double rms = __dsqrt_rn(__ddiv_rn(sum, static_cast<double>(size)));
    if (!isfinite(sum)) *bad = 1;
    scales[block] = rms < kScaleMin ? 0.0f : __double2float_rn(rms);
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

template <bool kAdd>
__global__ void DecodeKernel(const float* scales, const uint8_t* bits,
                             size_t count, float* values, int* bad) {
  const size_t block = Block();
  const size_t begin = block * kBlock;
  if (begin >= count) return;
  const int size = SizeOf(begin, count);
  const int lane = static_cast<int>(threadIdx.x);
  const float scale = scales[block];
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

template <bool kAdd>
cudaError_t LaunchDecode(const std::byte* payload, size_t count, float* values,
                         int* bad, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const Shape shape = ShapeFor(count);
  return Launch(
      DecodeKernel<kAdd>, shape.groups, shape.threads, stream,
      reinterpret_cast<const float*>(payload),
      reinterpret_cast<const uint8_t*>(payload + Reference::ScaleBytes(count)),
      count, values, bad);
}

}  // namespace

cudaError_t EncodeSign1(const float* values, size_t count, std::byte* payload,
                        int* bad, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const Shape shape = ShapeFor(count);
  return Launch(
      EncodeKernel, shape.groups, shape.threads, stream, values, count,
      reinterpret_cast<float*>(payload),
      reinterpret_cast<uint8_t*>(payload + Reference::ScaleBytes(count)), bad);
}

cudaError_t DecodeSign1(const std::byte* payload, size_t count, float* values,
                        int* bad, cudaStream_t stream) {
  return LaunchDecode<false>(payload, count, values, bad, stream);
}

cudaError_t DecodeAddSign1(const std::byte* payload, size_t count,
                           float* accumulators, int* bad, cudaStream_t stream) {
  return LaunchDecode<true>(payload, count, accumulators, bad, stream);
}

}  // namespace skerry::compression::cuda
