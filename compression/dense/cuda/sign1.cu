#include <cfloat>
#include <cstdint>

#include "compression/dense/cpu/rms.h"
#include "compression/dense/cpu/sign1.h"
#include "compression/dense/cuda/launch.h"
#include "compression/dense/cuda/run4.h"
#include "compression/dense/cuda/sign1.h"
#include "compression/dense/cuda/sums.h"

namespace skerry::compression::cuda {
namespace {

using Reference = cpu::Sign1;
using Whole = cpu::Sign1Whole;

constexpr int kBlockBytes = Reference::kBlockCodeBytes;
static_assert(Reference::kElements == kBlock);
constexpr int kSumThreads = 256;
constexpr int kSumsAtOnce = 1024;

// The four bytes in the other order.
__device__ unsigned Turned(unsigned word) {
  return word >> 24 | (word >> 8 & 0xff00u) | (word << 8 & 0xff0000u) |
         word << 24;
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

// Writes the bits of a block whose values begin at `begin`.
__device__ void WriteBits(const Strided& own, size_t begin, size_t count,
                          uint8_t* bits) {
  const int lane = static_cast<int>(threadIdx.x);
  // Lane k writes the bits of the values that all lanes have as number k. The
  // first value is the highest bit of the first byte.
  unsigned mine = 0;
  for (int k = 0; k < kRows; ++k) {
    const bool positive = begin + k * kWarp + lane < count &&
                          (__float_as_uint(own.at[k]) >> 31) == 0;
    const unsigned word = __brev(__ballot_sync(kEveryLane, positive));
    if (lane == k) mine = word;
  }
  const size_t first = begin + static_cast<size_t>(lane) * kWarp;
  if (lane >= kRows || first >= count) return;
  if (first + kWarp <= count) {
    *reinterpret_cast<unsigned*>(bits + first / 8) = Turned(mine);
    return;
  }
  for (size_t i = 0; i < (count - first + 7) / 8; ++i) {
    bits[first / 8 + i] = static_cast<uint8_t>(mine >> (24 - 8 * i));
  }
}

template <typename Taker>
__global__ void EncodeKernel(const float* values, size_t count, Taker taker,
                             uint8_t* bits, int* bad) {
  const size_t first = Warp() * kBlocksPerWarp;
  if (first * kBlock >= count) return;
  Strided own[kBlocksPerWarp];
  for (int b = 0; b < kBlocksPerWarp; ++b) {
    own[b] = Load(values, (first + b) * kBlock, count);
  }
  const double sum = SumOf(own, Square());
  const int lane = static_cast<int>(threadIdx.x);
  const size_t summed = first + lane / kSums;
  if (lane % kSums == 0 && summed * kBlock < count) {
    if (!isfinite(sum)) *bad = 1;
    taker.Take(summed, sum, SizeOf(summed * kBlock, count));
  }
  for (int b = 0; b < kBlocksPerWarp; ++b) {
    WriteBits(own[b], (first + b) * kBlock, count, bits);
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
  const size_t block = Warp();
  const size_t begin = block * kBlock;
  if (begin >= count) return;
  const int size = SizeOf(begin, count);
  const int lane = static_cast<int>(threadIdx.x);
  // Half a byte of bits belongs to a run.
  constexpr int kRuns = kBlock / (kWarp * kRun);
  unsigned four[kRuns];
  Run4<float> before[kRuns];
  const auto run_of = [&](int r) {
    return (block * kRuns + r) * kWarp + threadIdx.x;
  };
  for (int r = 0; r < kRuns; ++r) {
    const size_t index = run_of(r);
    const unsigned byte = index * kRun < count ? bits[index / 2] : 0u;
    four[r] = index % 2 == 0 ? byte >> 4 : byte & 15u;
    if (kAdd) before[r] = LoadRun(values, count, index);
  }
  const float scale = scales[kWhole ? 0 : block];
  const bool good = __float_as_uint(scale) == 0 ||
                    (scale >= cpu::kRmsScaleMin && scale <= FLT_MAX);
  const uint8_t* own = bits + block * kBlockBytes;
  const bool clean =
      size % 8 == 0 || (own[size / 8] & (0xff >> (size % 8))) == 0;
  if ((!good || !clean) && lane == 0) *bad = 1;
  for (int r = 0; r < kRuns; ++r) {
    Run4<float> run;
    for (int i = 0; i < kRun; ++i) {
      const float value =
          (four[r] >> (kRun - 1 - i) & 1u) != 0 ? scale : -scale;
      run.at[i] = kAdd ? __fadd_rn(before[r].at[i], value) : value;
    }
    StoreRun(run, values, count, run_of(r));
  }
}

template <typename Kernels, typename Taker>
cudaError_t LaunchEncode(const float* values, size_t count, std::byte* payload,
                         Taker taker, int* bad, cudaStream_t stream) {
  const Shape shape = ShapeFor(count, kBlocksPerWarp);
  return Launch(
      EncodeKernel<Taker>, shape.groups, shape.threads, stream, values, count,
      taker, reinterpret_cast<uint8_t*>(payload + Kernels::ScaleBytes(count)),
      bad);
}

template <typename Kernels, bool kAdd>
cudaError_t LaunchDecode(const std::byte* payload, size_t count, float* values,
                         int* bad, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const Shape shape = ShapeFor(count, 1);
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
