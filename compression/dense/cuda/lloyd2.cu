#include <cstdint>

#include "compression/dense/cpu/lloyd2.h"
#include "compression/dense/cuda/launch.h"
#include "compression/dense/cuda/lloyd2.h"
#include "compression/dense/cuda/run4.h"
#include "compression/dense/cuda/sums.h"

namespace skerry::compression::cuda {
namespace {

using Reference = cpu::Lloyd2;

constexpr int kBlockBytes = Reference::kBlockCodeBytes;
static_assert(Reference::kElements == kBlock);

// Bit i of a half goes to bit 2 i.
__device__ unsigned Spread(unsigned half) {
  unsigned bits = half & 0xffffu;
  bits = (bits | bits << 8) & 0x00ff00ffu;
  bits = (bits | bits << 4) & 0x0f0f0f0fu;
  bits = (bits | bits << 2) & 0x33333333u;
  return (bits | bits << 1) & 0x55555555u;
}

// A value's magnitude times that of its level, which is 0 for 0.
struct LevelProduct {
  float midpoint;
  __device__ double operator()(float value) const {
    const float size = fabsf(value);
    const float level = size > midpoint ? cpu::kLloyd2Outer : cpu::kLloyd2Inner;
    return __dmul_rn(static_cast<double>(size), static_cast<double>(level));
  }
};

// Writes the codes of a block whose values begin at `begin`, and returns in all
// lanes how many have an outer level. Lane k writes those of the values that
// all lanes have as number k, which are eight bytes.
__device__ int WriteCodes(const Strided& own, float midpoint, size_t begin,
                          size_t count, uint8_t* codes) {
  const int lane = static_cast<int>(threadIdx.x);
  int outers = 0;
  unsigned upper_bits = 0;
  unsigned lower_bits = 0;
  for (int k = 0; k < kRows; ++k) {
    const bool there = begin + k * kWarp + lane < count;
    const bool minus = (__float_as_uint(own.at[k]) >> 31) != 0;
    const bool outer = there && fabsf(own.at[k]) > midpoint;
    outers += __popc(__ballot_sync(kEveryLane, outer));
    const unsigned upper = __ballot_sync(kEveryLane, there && !minus);
    const unsigned lower = __ballot_sync(kEveryLane, there && outer != minus);
    if (lane == k) {
      upper_bits = upper;
      lower_bits = lower;
    }
  }
  const size_t first = begin + static_cast<size_t>(lane) * kWarp;
  if (lane >= kRows || first >= count) return outers;
  const unsigned words[2] = {
      Spread(upper_bits) << 1 | Spread(lower_bits),
      Spread(upper_bits >> 16) << 1 | Spread(lower_bits >> 16)};
  if (first + kWarp <= count) {
    auto* const to = reinterpret_cast<unsigned*>(codes + first / 4);
    to[0] = words[0];
    to[1] = words[1];
    return outers;
  }
  for (size_t i = 0; i < (count - first + 3) / 4; ++i) {
    codes[first / 4 + i] = static_cast<uint8_t>(words[i / 4] >> (8 * (i % 4)));
  }
  return outers;
}

// As cpu::Lloyd2Scale().
__device__ float Lloyd2Scale(double products, int size, int outer) {
  constexpr double kInner = double{cpu::kLloyd2Inner} * cpu::kLloyd2Inner;
  constexpr double kOuter = double{cpu::kLloyd2Outer} * cpu::kLloyd2Outer;
  const double squares =
      __dadd_rn(__dmul_rn(static_cast<double>(size - outer), kInner),
                __dmul_rn(static_cast<double>(outer), kOuter));
  const double scale = __ddiv_rn(products, squares);
  if (scale < cpu::kRmsScaleMin) return 0.0f;
  return scale < cpu::kLloyd2ScaleMax ? __double2float_rn(scale)
                                      : cpu::kLloyd2ScaleMax;
}

__global__ void EncodeKernel(const float* values, size_t count, float* scales,
                             uint8_t* codes, int* bad) {
  const size_t first = Warp() * kBlocksPerWarp;
  if (first * kBlock >= count) return;
  Strided own[kBlocksPerWarp];
  for (int b = 0; b < kBlocksPerWarp; ++b) {
    own[b] = Load(values, (first + b) * kBlock, count);
  }
  const double sum = SumOf(own, Square());
  float midpoints[kBlocksPerWarp];
  int outers[kBlocksPerWarp];
  for (int b = 0; b < kBlocksPerWarp; ++b) {
    const double total = __shfl_sync(kEveryLane, sum, b * kSums);
    const size_t begin = (first + b) * kBlock;
    if (!isfinite(total) && threadIdx.x == 0) *bad = 1;
    midpoints[b] = 0.0f;
    outers[b] = 0;
    if (begin >= count) continue;
    midpoints[b] =
        __fmul_rn(cpu::kLloyd2Midpoint,
                  ScaleOf(total, static_cast<size_t>(SizeOf(begin, count))));
    outers[b] = WriteCodes(own[b], midpoints[b], begin, count, codes);
  }
  const int mine = static_cast<int>(threadIdx.x) / kSums;
  const double products = SumOf(own, LevelProduct{midpoints[mine]});
  const size_t begin = (first + mine) * kBlock;
  if (threadIdx.x % kSums == 0 && begin < count) {
    scales[first + mine] =
        Lloyd2Scale(products, SizeOf(begin, count), outers[mine]);
  }
}

template <bool kAdd>
__global__ void DecodeKernel(const float* scales, const uint8_t* codes,
                             size_t count, float* values, int* bad) {
  const size_t block = Warp();
  const size_t begin = block * kBlock;
  if (begin >= count) return;
  const int size = SizeOf(begin, count);
  // One byte of codes belongs to a run.
  constexpr int kRuns = kBlock / (kWarp * kRun);
  unsigned four[kRuns];
  Run4<float> before[kRuns];
  const auto run_of = [&](int r) {
    return (block * kRuns + r) * kWarp + threadIdx.x;
  };
  for (int r = 0; r < kRuns; ++r) {
    const size_t index = run_of(r);
    four[r] = index * kRun < count ? codes[index] : 0u;
    if (kAdd) before[r] = LoadRun(values, count, index);
  }
  const float scale = scales[block];
  const bool good =
      __float_as_uint(scale) == 0 ||
      (scale >= cpu::kRmsScaleMin && scale <= cpu::kLloyd2ScaleMax);
  const bool clean =
      size % 4 == 0 ||
      codes[block * kBlockBytes + size / 4] >> (2 * (size % 4)) == 0;
  if ((!good || !clean) && threadIdx.x == 0) *bad = 1;
  const float inner = __fmul_rn(cpu::kLloyd2Inner, scale);
  const float outer = __fmul_rn(cpu::kLloyd2Outer, scale);
  for (int r = 0; r < kRuns; ++r) {
    Run4<float> run;
    for (int i = 0; i < kRun; ++i) {
      const unsigned code = four[r] >> (2 * i) & 3u;
      const float size_of = code == 0 || code == 3 ? outer : inner;
      const float value = code >= 2 ? size_of : -size_of;
      run.at[i] = kAdd ? __fadd_rn(before[r].at[i], value) : value;
    }
    StoreRun(run, values, count, run_of(r));
  }
}

template <bool kAdd>
cudaError_t LaunchDecode(const std::byte* payload, size_t count, float* values,
                         int* bad, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const Shape shape = ShapeFor(count, 1);
  return Launch(
      DecodeKernel<kAdd>, shape.groups, shape.threads, stream,
      reinterpret_cast<const float*>(payload),
      reinterpret_cast<const uint8_t*>(payload + Reference::ScaleBytes(count)),
      count, values, bad);
}

}  // namespace

cudaError_t EncodeLloyd2(const float* values, size_t count, std::byte* payload,
                         int* bad, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const Shape shape = ShapeFor(count, kBlocksPerWarp);
  return Launch(
      EncodeKernel, shape.groups, shape.threads, stream, values, count,
      reinterpret_cast<float*>(payload),
      reinterpret_cast<uint8_t*>(payload + Reference::ScaleBytes(count)), bad);
}

cudaError_t DecodeLloyd2(const std::byte* payload, size_t count, float* values,
                         int* bad, cudaStream_t stream) {
  return LaunchDecode<false>(payload, count, values, bad, stream);
}

cudaError_t DecodeAddLloyd2(const std::byte* payload, size_t count,
                            float* accumulators, int* bad,
                            cudaStream_t stream) {
  return LaunchDecode<true>(payload, count, accumulators, bad, stream);
}

}  // namespace skerry::compression::cuda
