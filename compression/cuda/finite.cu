#include "compression/cuda/finite.h"
#include "compression/cuda/launch.h"
#include "compression/cuda/per_value.h"

namespace skerry::compression::cuda {
namespace {

constexpr unsigned kInfinityBits = 0x7f800000u;

__global__ void Flag(const float* values, size_t count, int* bad) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count; i += step) {
    if ((__float_as_uint(values[i]) & kInfinityBits) == kInfinityBits) *bad = 1;
  }
}

}  // namespace

cudaError_t FlagNotFinite(const float* values, size_t count, int* bad,
                          cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  return Launch(Flag, GroupsFor(count), kThreadsPerGroup, stream, values, count,
                bad);
}

}  // namespace skerry::compression::cuda
