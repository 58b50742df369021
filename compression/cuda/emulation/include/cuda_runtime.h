// compression/cuda/emulation/include/cuda_runtime.h
//
// Stands in for CUDA's header of this name where kernels run on the processor.
// It has what nvcc knows in kernels, as far as Skerry uses it. Arithmetic is
// that of IEEE 754, as on a device with --fmad=false.
#ifndef SKERRY_COMPRESSION_CUDA_EMULATION_INCLUDE_CUDA_RUNTIME_H_
#define SKERRY_COMPRESSION_CUDA_EMULATION_INCLUDE_CUDA_RUNTIME_H_

#include <cuda_runtime_api.h>

// As nvcc has them in the global namespace.
#include <math.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

#include "compression/cuda/emulation/block.h"
#include "compression/cuda/emulation/grid.h"

#define __global__
#define __device__
#define __host__
#define __constant__
// Blocks run one after the other.
#define __shared__ static

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config,
                               void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  const std::tuple<Parameters...> copies(std::forward<Arguments>(arguments)...);
  return skerry::compression::cuda::emulation::RunGrid(
      config->gridDim, config->blockDim,
      [&copies, kernel] { std::apply(kernel, copies); });
}

struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
struct alignas(4) char4 {
  signed char x, y, z, w;
};
inline char4 make_char4(signed char x, signed char y, signed char z,
                        signed char w) {
  return {x, y, z, w};
}

template <typename T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}

inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline float __double2float_rn(double a) { return static_cast<float>(a); }
// Requires: an int holds the rounded value.
inline int __float2int_rn(float a) { return static_cast<int>(lrintf(a)); }

inline int __clzll(long long x) {
  return std::countl_zero(static_cast<unsigned long long>(x));
}
inline unsigned long long __umul64hi(unsigned long long a,
                                     unsigned long long b) {
  return static_cast<unsigned long long>(
      static_cast<unsigned __int128>(a) * b >> 64);
}
inline int __popc(unsigned x) { return std::popcount(x); }
inline unsigned __brev(unsigned x) {
  unsigned turned = 0;
  for (int i = 0; i < 32; ++i) turned |= (x >> i & 1u) << (31 - i);
  return turned;
}

// Nobody else runs between two operations that wait for others.
template <typename T>
T atomicAdd(T* sum, T more) {
  return std::exchange(*sum, *sum + more);
}
template <typename T>
T atomicOr(T* bits, T more) {
  return std::exchange(*bits, *bits | more);
}

// The place where a kernel waits, which distinguishes it from other waits.
using Where = skerry::compression::cuda::emulation::Where;

inline void __syncthreads(Where where = {__builtin_LINE()}) {
  skerry::compression::cuda::emulation::MeetBlock(where);
}

// What lane `from` brings, or the own value where that is no lane.
template <typename T>
T EmulatedShuffle(unsigned mask, T value, unsigned from, Where where) {
  namespace emulation = skerry::compression::cuda::emulation;
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  const emulation::WarpValues& all = emulation::MeetWarp(mask, bits, where);
  if (from >= emulation::kWarp) return value;
  emulation::RequireLane(mask, from, where);
  std::memcpy(&value, &all[from], sizeof(value));
  return value;
}
template <typename T>
T __shfl_sync(unsigned mask, T value, int from,
              Where where = {__builtin_LINE()}) {
  return EmulatedShuffle(mask, value, static_cast<unsigned>(from) % 32, where);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta,
                   Where where = {__builtin_LINE()}) {
  return EmulatedShuffle(
      mask, value, skerry::compression::cuda::emulation::Lane() + delta, where);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta,
                 Where where = {__builtin_LINE()}) {
  return EmulatedShuffle(
      mask, value, skerry::compression::cuda::emulation::Lane() - delta, where);
}

inline unsigned __ballot_sync(unsigned mask, int is,
                              Where where = {__builtin_LINE()}) {
  namespace emulation = skerry::compression::cuda::emulation;
  const emulation::WarpValues& all =
      emulation::MeetWarp(mask, is != 0 ? 1 : 0, where);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < emulation::kWarp; ++lane) {
    if ((mask >> lane & 1u) != 0 && all[lane] != 0) votes |= 1u << lane;
  }
  return votes;
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value,
                                  Where where = {__builtin_LINE()}) {
  namespace emulation = skerry::compression::cuda::emulation;
  const emulation::WarpValues& all = emulation::MeetWarp(mask, value, where);
  uint64_t most = 0;
  for (unsigned lane = 0; lane < emulation::kWarp; ++lane) {
    if ((mask >> lane & 1u) != 0) most = max(most, all[lane]);
  }
  return static_cast<unsigned>(most);
}

#endif  // SKERRY_COMPRESSION_CUDA_EMULATION_INCLUDE_CUDA_RUNTIME_H_
