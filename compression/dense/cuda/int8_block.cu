#include <cstdint>

#include "compression/dense/cpu/int8_block.h"
#include "compression/dense/cuda/int8_block.h"
#include "compression/dense/cuda/int8_scale.h"
#include "compression/dense/cuda/launch.h"
#include "compression/dense/cuda/run4.h"

namespace skerry::compression::cuda {
namespace {

using Reference = cpu::Int8Block;

// One warp takes one block: each lane holds two runs of four values.
constexpr int kWarp = 32;
constexpr int kRuns = 2;
constexpr int kWarpsPerGroup = 8;
static_assert(kWarp * kRun * kRuns == Reference::kElements);

// The block of this warp; the launch may have more warps than blocks.
__device__ size_t Block() {
  return static_cast<size_t>(blockIdx.x) * kWarpsPerGroup + threadIdx.y;
}

// The run of this lane's number `r`, counted from the slice's first value.
__device__ size_t RunOf(size_t block, int r) {
  return (block * kRuns + r) * kWarp + threadIdx.x;
}

__global__ void EncodeKernel(const float* values, size_t count, float* scales,
                             int8_t* codes, int* bad) {
  const size_t block = Block();
  if (block * Reference::kElements >= count) return;
  Run4<float> run[kRuns];
  for (int r = 0; r < kRuns; ++r) {
    run[r] = LoadRun(values, count, RunOf(block, r));
  }
  unsigned absmax_bits = 0;
  for (int r = 0; r < kRuns; ++r) {
    for (int i = 0; i < kRun; ++i) {
      absmax_bits =
          max(absmax_bits, __float_as_uint(run[r].at[i]) & 0x7fffffffu);
    }
  }
  absmax_bits = __reduce_max_sync(0xffffffffu, absmax_bits);
  if (absmax_bits >= 0x7f800000u) {
    if (threadIdx.x == 0) *bad = 1;
    return;
  }
  const Int8Scale scale = Int8ScaleOf(__uint_as_float(absmax_bits));
  if (threadIdx.x == 0) scales[block] = scale.scale;
  for (int r = 0; r < kRuns; ++r) {
    Run4<int8_t> code;
    for (int i = 0; i < kRun; ++i) code.at[i] = Int8CodeOf(run[r].at[i], scale);
    StoreRun(code, codes, count, RunOf(block, r));
  }
}

template <bool kAdd>
__global__ void DecodeKernel(const float* scales, const int8_t* codes,
                             size_t count, float* values, int* bad) {
  const size_t block = Block();
  if (block * Reference::kElements >= count) return;
  // All is on its way before the scale is looked at.
  Run4<int8_t> code[kRuns];
  Run4<float> before[kRuns];
  for (int r = 0; r < kRuns; ++r) {
    code[r] = LoadRun(codes, count, RunOf(block, r));
    if (kAdd) before[r] = LoadRun(values, count, RunOf(block, r));
  }
  const float scale = scales[block];
  bool good = IsInt8Scale(scale);
  for (int r = 0; r < kRuns; ++r) {
    Run4<float> run;
    for (int i = 0; i < kRun; ++i) {
      good &= IsInt8Code(code[r].at[i]);
      const float value = __fmul_rn(static_cast<float>(code[r].at[i]), scale);
      run.at[i] = kAdd ? __fadd_rn(before[r].at[i], value) : value;
    }
    StoreRun(run, values, count, RunOf(block, r));
  }
  if (!good) *bad = 1;
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
  const auto* scales = reinterpret_cast<const float*>(payload);
  const auto* codes =
      reinterpret_cast<const int8_t*>(scales + Reference::Blocks(count));
  const Shape shape = ShapeFor(count);
  return Launch(DecodeKernel<kAdd>, shape.groups, shape.threads, stream, scales,
                codes, count, values, bad);
}

}  // namespace

cudaError_t EncodeInt8Block(const float* values, size_t count,
                            std::byte* payload, int* bad, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  auto* scales = reinterpret_cast<float*>(payload);
  auto* codes = reinterpret_cast<int8_t*>(scales + Reference::Blocks(count));
  const Shape shape = ShapeFor(count);
  return Launch(EncodeKernel, shape.groups, shape.threads, stream, values,
                count, scales, codes, bad);
}

cudaError_t DecodeInt8Block(const std::byte* payload, size_t count,
                            float* values, int* bad, cudaStream_t stream) {
  return LaunchDecode<false>(payload, count, values, bad, stream);
}

cudaError_t DecodeAddInt8Block(const std::byte* payload, size_t count,
                               float* accumulators, int* bad,
                               cudaStream_t stream) {
  return LaunchDecode<true>(payload, count, accumulators, bad, stream);
}

}  // namespace skerry::compression::cuda
