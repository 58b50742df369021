#include <cstdint>

#include "base/random.h"
#include "compression/cuda/finite.h"
#include "compression/cuda/launch.h"
#include "compression/cuda/per_value.h"
#include "compression/sparse/cuda/random_k.h"

namespace skerry::compression::cuda {
namespace {

// The parts that values are drawn from.
struct Parts {
  uint64_t seed;
  size_t draws;
  // The quotient and the remainder of n / draws, for a slice of n values.
  size_t size;
  size_t remainder;

  // Returns floor(draw * n / draws) without that product, which may not fit 64
  // bits.
  __device__ size_t Begin(size_t draw) const {
    return draw * size + draw * remainder / draws;
  }
  __device__ size_t Place(size_t draw) const {
    const size_t begin = Begin(draw);
    return begin + static_cast<size_t>(__umul64hi(RandomAt(seed, draw),
                                                  Begin(draw + 1) - begin));
  }
};

__global__ void Draw(Parts parts, const float* values, float* drawn) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < parts.draws; i += step) {
    drawn[i] = values[parts.Place(i)];
  }
}

// No two values are drawn at one place, so threads do not collide.
__global__ void Add(Parts parts, const float* drawn, float* accumulators) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < parts.draws; i += step) {
    float& to = accumulators[parts.Place(i)];
    to = __fadd_rn(to, drawn[i]);
  }
}

Parts PartsOf(uint64_t seed, size_t count, size_t draws) {
  return {seed, draws, count / draws, count % draws};
}

}  // namespace

cudaError_t DrawValues(uint64_t seed, const float* values, size_t count,
                       size_t draws, float* drawn, int* bad,
                       cudaStream_t stream) {
  if (draws == 0) return cudaSuccess;
  const cudaError_t error = FlagNotFinite(values, count, bad, stream);
  if (error != cudaSuccess) return error;
  return Launch(Draw, GroupsFor(draws), kThreadsPerGroup, stream,
                PartsOf(seed, count, draws), values, drawn);
}

cudaError_t AddDrawn(uint64_t seed, const float* drawn, size_t draws,
                     float* accumulators, size_t count, cudaStream_t stream) {
  if (draws == 0) return cudaSuccess;
  return Launch(Add, GroupsFor(draws), kThreadsPerGroup, stream,
                PartsOf(seed, count, draws), drawn, accumulators);
}

}  // namespace skerry::compression::cuda
