#include <cstdint>

#include "compression/dense/cuda/bf16.h"
#include "compression/dense/cuda/per_value.h"

namespace skerry::compression::cuda {
namespace {

constexpr uint32_t kInfinityBits = 0x7f800000u;
// The largest magnitude whose rounding stays finite.
constexpr uint32_t kLargestBits = 0x7f7f7fffu;

struct Conversion {
  using Code = uint16_t;

  static __device__ bool Encode(uint32_t bits, Code& code) {
    const uint32_t size = bits & 0x7fffffffu;
    const uint32_t kept = min(size, kLargestBits);
    const uint32_t rounded = kept + 0x7fffu + (kept >> 16 & 1u);
    code = static_cast<Code>((rounded | (bits & 0x80000000u)) >> 16);
    return size < kInfinityBits;
  }

  static __device__ bool Decode(Code code, float& value) {
    const uint32_t bits = static_cast<uint32_t>(code) << 16;
    value = __uint_as_float(bits);
    return (bits & 0x7fffffffu) < kInfinityBits;
  }
};

}  // namespace

cudaError_t EncodeBf16(const float* values, size_t count, std::byte* payload,
                       int* bad, cudaStream_t stream) {
  return LaunchEncode<Conversion>(values, count, payload, bad, stream);
}

cudaError_t DecodeBf16(const std::byte* payload, size_t count, float* values,
                       int* bad, cudaStream_t stream) {
  return LaunchDecode<Conversion, false>(payload, count, values, bad, stream);
}

cudaError_t DecodeAddBf16(const std::byte* payload, size_t count,
                          float* accumulators, int* bad, cudaStream_t stream) {
  return LaunchDecode<Conversion, true>(payload, count, accumulators, bad,
                                        stream);
}

}  // namespace skerry::compression::cuda
