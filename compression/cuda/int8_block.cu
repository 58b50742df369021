#include <cstdint>

#include "compression/cpu/int8_block.h"
#include "compression/cuda/int8_block.h"
#include "compression/cuda/int8_scale.h"
#include "compression/cuda/launch.h"

namespace skerry::compression::cuda {
namespace {

using Reference = cpu::Int8Block;

// One warp takes one block: each lane holds two runs of four values.
constexpr int kWarp = 32;
constexpr int kRun = 4;
constexpr int kRuns = 2;
constexpr int kWarpsPerGroup = 8;
static_assert(kWarp * kRun * kRuns == Reference::kElements);

// First element, within its block, of a lane's run.
__device__ int RunStart(int run) {
  return (run * kWarp + static_cast<int>(threadIdx.x)) * kRun;
}

// The block of this warp; the launch may have more warps than blocks.
__device__ size_t Block() {
  return static_cast<size_t>(blockIdx.x) * kWarpsPerGroup + threadIdx.y;
}

// Up to four values from `from`; 0 beyond `left`.
__device__ void LoadRun(const float* from, int left, float (&run)[kRun]) {
  if (left >= kRun) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    run[0] = four.x;
    run[1] = four.y;
    run[2] = four.z;
    run[3] = four.w;
    return;
  }
  for (int i = 0; i < kRun; ++i) run[i] = i < left ? from[i] : 0.0f;
}

__device__ void StoreRun(const float (&run)[kRun], int left, float* to) {
  if (left >= kRun) {
    *reinterpret_cast<float4*>(to) =
        make_float4(run[0], run[1], run[2], run[3]);
    return;
  }
  for (int i = 0; i < left; ++i) to[i] = run[i];
}

__global__ void EncodeKernel(const float* values, size_t count, float* scales,
                             int8_t* codes, int* bad) {
  const size_t block = Block();
  const size_t begin = block * Reference::kElements;
  if (begin >= count) return;
  const int size =
      static_cast<int>(min(count - begin, size_t{Reference::kElements}));
  float run[kRuns][kRun];
  unsigned absmax_bits = 0;
  for (int r = 0; r < kRuns; ++r) {
    const int start = RunStart(r);
    LoadRun(values + begin + start, size - start, run[r]);
    for (int i = 0; i < kRun; ++i) {
      absmax_bits = max(absmax_bits, __float_as_uint(run[r][i]) & 0x7fffffffu);
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
    const int start = RunStart(r);
    int8_t* to = codes + begin + start;
    int8_t code[kRun];
    for (int i = 0; i < kRun; ++i) {
      code[i] = Int8CodeOf(run[r][i], scale);
    }
    if (size - start >= kRun) {
      *reinterpret_cast<char4*>(to) =
          make_char4(code[0], code[1], code[2], code[3]);
    } else {
      for (int i = 0; i < size - start; ++i) to[i] = code[i];
    }
  }
}

template <bool kAdd>
__global__ void DecodeKernel(const float* scales, const int8_t* codes,
                             size_t count, float* values, int* bad) {
  const size_t block = Block();
  const size_t begin = block * Reference::kElements;
  if (begin >= count) return;
  const int size =
      static_cast<int>(min(count - begin, size_t{Reference::kElements}));
  const float scale = scales[block];
  if (!IsInt8Scale(scale)) {
    if (threadIdx.x == 0) *bad = 1;
    return;
  }
  for (int r = 0; r < kRuns; ++r) {
    const int start = RunStart(r);
    const int left = size - start;
    if (left <= 0) continue;
    const int8_t* from = codes + begin + start;
    int8_t code[kRun] = {};
    if (left >= kRun) {
      const char4 four = *reinterpret_cast<const char4*>(from);
      code[0] = four.x;
      code[1] = four.y;
      code[2] = four.z;
      code[3] = four.w;
    } else {
      for (int i = 0; i < left; ++i) code[i] = from[i];
    }
    float run[kRun];
    if (kAdd) LoadRun(values + begin + start, left, run);
    for (int i = 0; i < kRun; ++i) {
      if (!IsInt8Code(code[i])) *bad = 1;
      const float value = __fmul_rn(static_cast<float>(code[i]), scale);
      run[i] = kAdd ? __fadd_rn(run[i], value) : value;
    }
    StoreRun(run, left, values + begin + start);
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
