// compression/dense/cuda/per_value.h
//
// Implements codecs that turn each value into a code of its own, for
// .cu files. A Conversion has
//   Code                       the type of a code
//   bool Encode(bits, code)    takes an fp32 pattern; false if it is not finite
//   bool Decode(code, value)   false if no encoder writes that code
#ifndef SKERRY_COMPRESSION_DENSE_CUDA_PER_VALUE_H_
#define SKERRY_COMPRESSION_DENSE_CUDA_PER_VALUE_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "compression/dense/cuda/launch.h"
#include "compression/dense/cuda/run4.h"

namespace skerry::compression::cuda {

constexpr unsigned kThreadsPerGroup = 256;
// Runs that a thread reads before it works on the first one.
constexpr int kRunsAtOnce = 4;
constexpr size_t kValuesPerGroup =
    size_t{kThreadsPerGroup} * kRun * kRunsAtOnce;

// The run of this thread's number `r`: neighbouring threads have neighbouring
// runs.
__device__ inline size_t RunOf(int r) {
  return (static_cast<size_t>(blockIdx.x) * kRunsAtOnce + r) *
             kThreadsPerGroup +
         threadIdx.x;
}

template <typename Conversion>
__global__ void EncodeValues(const float* values, size_t count,
                             typename Conversion::Code* codes, int* bad) {
  Run4<float> run[kRunsAtOnce];
  for (int r = 0; r < kRunsAtOnce; ++r) {
    run[r] = LoadRun(values, count, RunOf(r));
  }
  bool good = true;
  for (int r = 0; r < kRunsAtOnce; ++r) {
    Run4<typename Conversion::Code> code;
    for (int i = 0; i < kRun; ++i) {
      good &= Conversion::Encode(__float_as_uint(run[r].at[i]), code.at[i]);
    }
    StoreRun(code, codes, count, RunOf(r));
  }
  if (!good) *bad = 1;
}

template <typename Conversion, bool kAdd>
__global__ void DecodeValues(const typename Conversion::Code* codes,
                             size_t count, float* values, int* bad) {
  Run4<typename Conversion::Code> code[kRunsAtOnce];
  Run4<float> before[kRunsAtOnce];
  for (int r = 0; r < kRunsAtOnce; ++r) {
    code[r] = LoadRun(codes, count, RunOf(r));
    if (kAdd) before[r] = LoadRun(values, count, RunOf(r));
  }
  bool good = true;
  for (int r = 0; r < kRunsAtOnce; ++r) {
    Run4<float> run;
    for (int i = 0; i < kRun; ++i) {
      float value = 0.0f;
      good &= Conversion::Decode(code[r].at[i], value);
      run.at[i] = kAdd ? __fadd_rn(before[r].at[i], value) : value;
    }
    StoreRun(run, values, count, RunOf(r));
  }
  if (!good) *bad = 1;
}

inline unsigned GroupsFor(size_t count) {
  return static_cast<unsigned>((count + kValuesPerGroup - 1) / kValuesPerGroup);
}

template <typename Conversion>
cudaError_t LaunchEncode(const float* values, size_t count, std::byte* payload,
                         int* bad, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return Launch(EncodeValues<Conversion>, GroupsFor(count), kThreadsPerGroup,
                stream, values, count,
                reinterpret_cast<typename Conversion::Code*>(payload), bad);
}

template <typename Conversion, bool kAdd>
cudaError_t LaunchDecode(const std::byte* payload, size_t count, float* values,
                         int* bad, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return Launch(DecodeValues<Conversion, kAdd>, GroupsFor(count),
                kThreadsPerGroup, stream,
                reinterpret_cast<const typename Conversion::Code*>(payload),
                count, values, bad);
}

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_DENSE_CUDA_PER_VALUE_H_
