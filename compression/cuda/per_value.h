// compression/cuda/per_value.h
//
// Kernels of codecs that turn each value into a code of its own, for .cu files.
// A Conversion has
//   Code                       what a value becomes
//   bool Encode(bits, code)    of an fp32 pattern; false when it is not finite
//   bool Decode(code, value)   false when no encoder writes that code
#ifndef SKERRY_COMPRESSION_CUDA_PER_VALUE_H_
#define SKERRY_COMPRESSION_CUDA_PER_VALUE_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "compression/cuda/launch.h"

namespace skerry::compression::cuda {

constexpr unsigned kThreadsPerGroup = 256;
constexpr size_t kGroupsMax = 4096;

template <typename Conversion>
__global__ void EncodeValues(const float* values, size_t count,
                             typename Conversion::Code* codes, int* bad) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count; i += step) {
    typename Conversion::Code code = 0;
    if (!Conversion::Encode(__float_as_uint(values[i]), code)) *bad = 1;
    codes[i] = code;
  }
}

template <typename Conversion, bool kAdd>
__global__ void DecodeValues(const typename Conversion::Code* codes,
                             size_t count, float* values, int* bad) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count; i += step) {
    float value = 0.0f;
    if (!Conversion::Decode(codes[i], value)) *bad = 1;
    values[i] = kAdd ? __fadd_rn(values[i], value) : value;
  }
}

inline unsigned GroupsFor(size_t count) {
  const size_t groups = (count + kThreadsPerGroup - 1) / kThreadsPerGroup;
  return static_cast<unsigned>(groups < kGroupsMax ? groups : kGroupsMax);
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

#endif  // SKERRY_COMPRESSION_CUDA_PER_VALUE_H_
