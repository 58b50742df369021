#include <cstdint>

#include "compression/dense/cpu/levels4.h"
#include "compression/dense/cuda/block4.h"
#include "compression/dense/cuda/launch.h"
#include "compression/dense/cuda/run4.h"

namespace skerry::compression::cuda {
namespace {

using cpu::Levels4;
using cpu::Scale4;

// A run of four values and the two bytes of its codes belong to one thread, so
// 16 lanes have a block of 64 values. A thread has several runs.
constexpr int kThreadsPerGroup = 256;
constexpr int kRunsAtOnce = 4;
constexpr int kBlock = cpu::Nf4::kElements;
constexpr int kLanesPerBlock = kBlock / kRun;
constexpr size_t kValuesPerGroup =
    size_t{kThreadsPerGroup} * kRun * kRunsAtOnce;
constexpr int kWarp = 32;
constexpr unsigned kEveryLane = 0xffffffffu;
constexpr unsigned kInfinityBits = 0x7f800000u;
constexpr float kScaleMin = cpu::kBlock4ScaleMin;

__constant__ const cpu::Levels16 kDeviceNf4 = cpu::kNf4Levels;
__constant__ const cpu::Levels16 kDeviceE3m0 = cpu::kE3m0Levels;

// The run of this thread's number `r`; neighbouring threads have neighbouring
// runs, and the launch may have more runs than the slice.
__device__ size_t RunOf(int r) {
  return (static_cast<size_t>(blockIdx.x) * kRunsAtOnce + r) *
             kThreadsPerGroup +
         threadIdx.x;
}

__device__ unsigned Lane() { return threadIdx.x % kWarp; }

constexpr float Nf4Midpoint(int i) {
  return (cpu::kNf4Levels.values[i] + cpu::kNf4Levels.values[i + 1]) * 0.5f;
}

// The number of midpoints below y, found by halving: ties go to the lower
// level.
__device__ unsigned Nf4Code(float y) {
  constexpr float k[] = {Nf4Midpoint(0),  Nf4Midpoint(1),  Nf4Midpoint(2),
                         Nf4Midpoint(3),  Nf4Midpoint(4),  Nf4Midpoint(5),
                         Nf4Midpoint(6),  Nf4Midpoint(7),  Nf4Midpoint(8),
                         Nf4Midpoint(9),  Nf4Midpoint(10), Nf4Midpoint(11),
                         Nf4Midpoint(12), Nf4Midpoint(13), Nf4Midpoint(14)};
  const bool a = y > k[7];
  const bool b = y > (a ? k[11] : k[3]);
  const bool c = y > (a ? (b ? k[13] : k[9]) : (b ? k[5] : k[1]));
  const bool d = y > (a ? (b ? (c ? k[14] : k[12]) : (c ? k[10] : k[8]))
                        : (b ? (c ? k[6] : k[4]) : (c ? k[2] : k[0])));
  return (a ? 8u : 0u) + (b ? 4u : 0u) + (c ? 2u : 0u) + (d ? 1u : 0u);
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

// Codes of a run, the first in the lowest bits. Codes behind the last value are
// 0.
__device__ unsigned LoadCodes(const uint8_t* codes, size_t count, size_t run) {
  const size_t first = run * kRun;
  if (first >= count) return 0;
  if (first + kRun / 2 >= count) return codes[run * 2];
  return reinterpret_cast<const uint16_t*>(codes)[run];
}

__device__ void StoreCodes(unsigned four, uint8_t* codes, size_t count,
                           size_t run) {
  const size_t first = run * kRun;
  if (first >= count) return;
  const size_t left = count - first;
  // There is no value behind the last one, and the half byte is 0.
  if (left < kRun) four &= (1u << (4 * left)) - 1;
  if (left <= kRun / 2) {
    codes[run * 2] = static_cast<uint8_t>(four);
  } else {
    reinterpret_cast<uint16_t*>(codes)[run] = static_cast<uint16_t>(four);
  }
}

template <Levels4 kLevels, Scale4 kScale>
__global__ void EncodeKernel(
    const float* values, size_t count,
    typename cpu::Block4Layout<kLevels, kScale>::Scale* scales, uint8_t* codes,
    int* bad) {
  Run4<float> run[kRunsAtOnce];
  for (int r = 0; r < kRunsAtOnce; ++r) {
    run[r] = LoadRun(values, count, RunOf(r));
  }
  bool good = true;
  for (int r = 0; r < kRunsAtOnce; ++r) {
    unsigned absmax_bits = 0;
    for (int i = 0; i < kRun; ++i) {
      absmax_bits =
          max(absmax_bits, __float_as_uint(run[r].at[i]) & 0x7fffffffu);
    }
    for (unsigned step = kLanesPerBlock / 2; step > 0; step /= 2) {
      absmax_bits =
          max(absmax_bits, __shfl_sync(kEveryLane, absmax_bits,
                                       static_cast<int>(Lane() ^ step)));
    }
    good &= absmax_bits < kInfinityBits;
    const unsigned code = ScaleCode<kScale>(absmax_bits);
    const size_t index = RunOf(r);
    const size_t first = index * kRun;
    if (index % kLanesPerBlock == 0 && first < count) {
      scales[index / kLanesPerBlock] = code;
    }
    const float scale =
        __uint_as_float(kScale == Scale4::kF32 ? code : code << 16);
    const float shrink = scale >= 0x1p100f ? 0x1p-64f : 1.0f;
    const float inverse =
        code == 0 ? 0.0f : __fdiv_rn(1.0f, __fmul_rn(scale, shrink));
    unsigned four = 0;
    for (int i = 0; i < kRun; ++i) {
      // With the scale 0, y is 0, whose code is that of the level 0.
      const float y = __fmul_rn(__fmul_rn(run[r].at[i], shrink), inverse);
      four |= CodeOf<kLevels>(y) << (4 * i);
    }
    StoreCodes(four, codes, count, index);
  }
  if (!good) *bad = 1;
}

template <Levels4 kLevels, Scale4 kScale, bool kAdd>
__global__ void DecodeKernel(
    const typename cpu::Block4Layout<kLevels, kScale>::Scale* scales,
    const uint8_t* codes, size_t count, float* values, int* bad) {
  // Every lane keeps one level, and lanes ask each other: a table in memory
  // would serve the lanes of a warp one after another.
  const cpu::Levels16& levels =
      kLevels == Levels4::kNf4 ? kDeviceNf4 : kDeviceE3m0;
  const float own = levels.values[Lane() % 16];
  unsigned four[kRunsAtOnce];
  unsigned wire[kRunsAtOnce];
  Run4<float> before[kRunsAtOnce];
  for (int r = 0; r < kRunsAtOnce; ++r) {
    const size_t index = RunOf(r);
    four[r] = LoadCodes(codes, count, index);
    wire[r] = index * kRun < count ? scales[index / kLanesPerBlock] : 0;
    if (kAdd) before[r] = LoadRun(values, count, index);
  }
  bool good = true;
  for (int r = 0; r < kRunsAtOnce; ++r) {
    const unsigned bits = kScale == Scale4::kF32 ? wire[r] : wire[r] << 16;
    const float scale = __uint_as_float(bits);
    // A set sign is above infinity as well.
    good &= bits == 0 || (bits < kInfinityBits && scale >= kScaleMin);
    const size_t first = RunOf(r) * kRun;
    Run4<float> run;
    for (int i = 0; i < kRun; ++i) {
      const unsigned code = four[r] >> (4 * i) & 15u;
      if (first + i >= count) {
        good &= code == 0;
      } else if (kLevels == Levels4::kE3m0) {
        good &= code != cpu::kE3m0MinusZero;
      }
      const float level = __shfl_sync(kEveryLane, own, static_cast<int>(code));
      const float value = __fmul_rn(level, scale);
      run.at[i] = kAdd ? __fadd_rn(before[r].at[i], value) : value;
    }
    StoreRun(run, values, count, RunOf(r));
  }
  if (!good) *bad = 1;
}

unsigned GroupsFor(size_t count) {
  return static_cast<unsigned>((count + kValuesPerGroup - 1) / kValuesPerGroup);
}

template <Levels4 kLevels, Scale4 kScale>
struct Twin {
  using Layout = cpu::Block4Layout<kLevels, kScale>;
  using Kernels = cpu::BlockKernels<Layout>;
  using Scale = typename Layout::Scale;

  static cudaError_t Encode(const float* values, size_t count,
                            std::byte* payload, int* bad, cudaStream_t stream) {
    return Launch(
        EncodeKernel<kLevels, kScale>, GroupsFor(count), kThreadsPerGroup,
        stream, values, count, reinterpret_cast<Scale*>(payload),
        reinterpret_cast<uint8_t*>(payload + Kernels::ScaleBytes(count)), bad);
  }

  template <bool kAdd>
  static cudaError_t Decode(const std::byte* payload, size_t count,
                            float* values, int* bad, cudaStream_t stream) {
    return Launch(
        DecodeKernel<kLevels, kScale, kAdd>, GroupsFor(count), kThreadsPerGroup,
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
