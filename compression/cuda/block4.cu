#include <cstdint>

#include "compression/cpu/levels4.h"
#include "compression/cuda/block4.h"
#include "compression/cuda/launch.h"

namespace skerry::compression::cuda {
namespace {

using cpu::Levels4;
using cpu::Scale4;

// One warp takes one block of 64 values: a lane has two, which share a byte.
constexpr int kWarp = 32;
constexpr int kWarpsPerGroup = 8;
constexpr int kBlock = cpu::Nf4::kElements;
constexpr unsigned kEveryLane = 0xffffffffu;
constexpr unsigned kInfinityBits = 0x7f800000u;
constexpr float kScaleMin = cpu::kBlock4ScaleMin;

__constant__ const cpu::Levels16 kDeviceNf4 = cpu::kNf4Levels;
__constant__ const cpu::Levels16 kDeviceE3m0 = cpu::kE3m0Levels;

// The block of this warp; the launch may have more warps than blocks.
__device__ size_t Block() {
  return static_cast<size_t>(blockIdx.x) * kWarpsPerGroup + threadIdx.y;
}

// The number of midpoints below y: ties go to the lower level.
__device__ unsigned Nf4Code(float y) {
  unsigned code = 0;
  for (int i = 0; i + 1 < 16; ++i) {
    const float sum = __fadd_rn(kDeviceNf4.values[i], kDeviceNf4.values[i + 1]);
    code += y > __fmul_rn(sum, 0.5f) ? 1 : 0;
  }
  return code;
}

// As the processor: the exponent, one more above its middle.
__device__ unsigned E3m0Code(float y) {
  const unsigned raw = __float_as_uint(y);
  const int size = static_cast<int>(raw & 0x7fffffffu);
  if (size <= 120 << 23) return 0;
  const int nearest = ((size + 0x3fffff) >> 23) - 120;
  return static_cast<unsigned>(min(max(nearest, 1), 7)) | raw >> 31 << 3;
}

template <Levels4 kLevels>
__device__ unsigned CodeOf(float y) {
  return kLevels == Levels4::kNf4 ? Nf4Code(y) : E3m0Code(y);
}

template <Scale4 kScale>
__device__ unsigned ScaleCode(unsigned absmax_bits) {
  if (__uint_as_float(absmax_bits) < kScaleMin) return 0;
  if (kScale == Scale4::kF32) return absmax_bits;
  return min((absmax_bits + 0xffffu) >> 16, 0x7f7fu);
}

template <Levels4 kLevels, Scale4 kScale>
__global__ void EncodeKernel(
    const float* values, size_t count,
    typename cpu::Block4Layout<kLevels, kScale>::Scale* scales, uint8_t* codes,
    int* bad) {
  const size_t block = Block();
  const size_t begin = block * kBlock;
  if (begin >= count) return;
  const int left =
      static_cast<int>(min(count - begin, static_cast<size_t>(kBlock)));
  const int lane = static_cast<int>(threadIdx.x);
  const int first = 2 * lane;
  const float x0 = first < left ? values[begin + first] : 0.0f;
  const float x1 = first + 1 < left ? values[begin + first + 1] : 0.0f;
  const unsigned absmax_bits =
      __reduce_max_sync(kEveryLane, max(__float_as_uint(x0) & 0x7fffffffu,
                                        __float_as_uint(x1) & 0x7fffffffu));
  if (absmax_bits >= kInfinityBits) {
    if (lane == 0) *bad = 1;
    return;
  }
  const unsigned code = ScaleCode<kScale>(absmax_bits);
  if (lane == 0) scales[block] = code;
  constexpr unsigned kZero = kLevels == Levels4::kNf4 ? cpu::kNf4Zero : 0;
  unsigned low = kZero;
  unsigned high = kZero;
  if (code != 0) {
    const float scale =
        __uint_as_float(kScale == Scale4::kF32 ? code : code << 16);
    const float shrink = scale >= 0x1p100f ? 0x1p-64f : 1.0f;
    const float inverse = __fdiv_rn(1.0f, __fmul_rn(scale, shrink));
    low = CodeOf<kLevels>(__fmul_rn(__fmul_rn(x0, shrink), inverse));
    high = CodeOf<kLevels>(__fmul_rn(__fmul_rn(x1, shrink), inverse));
  }
  if (first + 1 >= left) high = 0;
  if (first < left) {
    codes[block * (kBlock / 2) + lane] = static_cast<uint8_t>(low | high << 4);
  }
}

template <Levels4 kLevels, Scale4 kScale, bool kAdd>
__global__ void DecodeKernel(
    const typename cpu::Block4Layout<kLevels, kScale>::Scale* scales,
    const uint8_t* codes, size_t count, float* values, int* bad) {
  const size_t block = Block();
  const size_t begin = block * kBlock;
  if (begin >= count) return;
  const int left =
      static_cast<int>(min(count - begin, static_cast<size_t>(kBlock)));
  const int lane = static_cast<int>(threadIdx.x);
  const unsigned wire = scales[block];
  const unsigned bits = kScale == Scale4::kF32 ? wire : wire << 16;
  const float scale = __uint_as_float(bits);
  // A set sign is above infinity as well.
  if (bits != 0 && (bits >= kInfinityBits || scale < kScaleMin)) {
    if (lane == 0) *bad = 1;
    return;
  }
  const unsigned byte =
      2 * lane < left ? codes[block * (kBlock / 2) + lane] : 0;
  for (int half = 0; half < 2; ++half) {
    const int i = 2 * lane + half;
    const unsigned code = byte >> (4 * half) & 15u;
    if (i >= left) {
      if (code != 0) *bad = 1;
      continue;
    }
    if (kLevels == Levels4::kE3m0 && code == cpu::kE3m0MinusZero) *bad = 1;
    const float level = kLevels == Levels4::kNf4 ? kDeviceNf4.values[code]
                                                 : kDeviceE3m0.values[code];
    const float value = __fmul_rn(level, scale);
    values[begin + i] = kAdd ? __fadd_rn(values[begin + i], value) : value;
  }
}

struct Shape {
  dim3 groups;
  dim3 threads;
};

Shape ShapeFor(size_t count) {
  const size_t blocks = cpu::Nf4::Blocks(count);
  return {dim3(static_cast<unsigned>((blocks + kWarpsPerGroup - 1) /
                                     kWarpsPerGroup)),
          dim3(kWarp, kWarpsPerGroup)};
}

template <Levels4 kLevels, Scale4 kScale>
struct Twin {
  using Layout = cpu::Block4Layout<kLevels, kScale>;
  using Kernels = cpu::BlockKernels<Layout>;
  using Scale = typename Layout::Scale;

  static cudaError_t Encode(const float* values, size_t count,
                            std::byte* payload, int* bad, cudaStream_t stream) {
    const Shape shape = ShapeFor(count);
    return Launch(
        EncodeKernel<kLevels, kScale>, shape.groups, shape.threads, stream,
        values, count, reinterpret_cast<Scale*>(payload),
        reinterpret_cast<uint8_t*>(payload + Kernels::ScaleBytes(count)), bad);
  }

  template <bool kAdd>
  static cudaError_t Decode(const std::byte* payload, size_t count,
                            float* values, int* bad, cudaStream_t stream) {
    const Shape shape = ShapeFor(count);
    return Launch(
        DecodeKernel<kLevels, kScale, kAdd>, shape.groups, shape.threads,
        stream, reinterpret_cast<const Scale*>(payload),
        reinterpret_cast<const uint8_t*>(payload + Kernels::ScaleBytes(count)),
        count, values, bad);
  }
};

// Calls run(Twin of that kind).
template <typename Run>
cudaError_t OfKind(Kind4 kind, const Run& run) {
  if (kind.levels == Levels4::kNf4) {
    return kind.scale == Scale4::kBf16
               ? run(Twin<Levels4::kNf4, Scale4::kBf16>())
               : run(Twin<Levels4::kNf4, Scale4::kF32>());
  }
  return kind.scale == Scale4::kBf16
             ? run(Twin<Levels4::kE3m0, Scale4::kBf16>())
             : run(Twin<Levels4::kE3m0, Scale4::kF32>());
}

}  // namespace

cudaError_t EncodeBlock4(Kind4 kind, const float* values, size_t count,
                         std::byte* payload, int* bad, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return OfKind(kind, [&](auto twin) {
    return twin.Encode(values, count, payload, bad, stream);
  });
}

cudaError_t DecodeBlock4(Kind4 kind, const std::byte* payload, size_t count,
                         float* values, int* bad, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return OfKind(kind, [&](auto twin) {
    return twin.template Decode<false>(payload, count, values, bad, stream);
  });
}

cudaError_t DecodeAddBlock4(Kind4 kind, const std::byte* payload, size_t count,
                            float* accumulators, int* bad,
                            cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return OfKind(kind, [&](auto twin) {
    return twin.template Decode<true>(payload, count, accumulators, bad,
                                      stream);
  });
}

}  // namespace skerry::compression::cuda
