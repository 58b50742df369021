#include <cuda_fp16.h>

#include <cstdint>

#include "compression/dense/cuda/fp16.h"
#include "compression/dense/cuda/per_value.h"

namespace skerry::compression::cuda {
namespace {

constexpr uint32_t kInfinityBits = 0x7f800000u;
constexpr unsigned kHalfInfinity = 0x7c00;
constexpr unsigned kHalfLargest = 0x7bff;

struct Conversion {
  using Code = uint16_t;

  static __device__ bool Encode(uint32_t bits, Code& code) {
    const uint32_t size = bits & 0x7fffffffu;
    const unsigned nearest =
        __half_as_ushort(__float2half_rn(__uint_as_float(size)));
    code =
        static_cast<Code>(min(nearest, kHalfLargest) | (bits >> 16 & 0x8000u));
    return size < kInfinityBits;
  }

  static __device__ bool Decode(Code code, float& value) {
    value = __half2float(__ushort_as_half(code));
    return (code & 0x7fffu) < kHalfInfinity;
  }
};

}  // namespace

cudaError_t EncodeFp16(const float* values, size_t count, std::byte* payload,
                       int* bad, cudaStream_t stream) {
  return LaunchEncode<Conversion>(values, count, payload, bad, stream);
}

cudaError_t DecodeFp16(const std::byte* payload, size_t count, float* values,
                       int* bad, cudaStream_t stream) {
  return LaunchDecode<Conversion, false>(payload, count, values, bad, stream);
}

cudaError_t DecodeAddFp16(const std::byte* payload, size_t count,
                          float* accumulators, int* bad, cudaStream_t stream) {
  return LaunchDecode<Conversion, true>(payload, count, accumulators, bad,
                                        stream);
}

}  // namespace skerry::compression::cuda
