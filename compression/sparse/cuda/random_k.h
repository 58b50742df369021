// compression/sparse/cuda/random_k.h
//
// Which values random_k sends, on a device: the places of
// compression/sparse/random_k.cc. What is drawn goes through the kernels of a
// dense codec, whose payload is the whole payload.
//
// Both only queue work on `stream`, and return the error of a launch. Require:
// draws <= count < 2^40, draws < 2^32.
#ifndef SKERRY_COMPRESSION_SPARSE_CUDA_RANDOM_K_H_
#define SKERRY_COMPRESSION_SPARSE_CUDA_RANDOM_K_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace skerry::compression::cuda {

// Writes what is drawn, one value of each of `draws` equal parts. `*bad`, in
// device memory, is 0 before and becomes another number when a value is not
// finite, drawn or not.
cudaError_t DrawValues(uint64_t seed, const float* values, size_t count,
                       size_t draws, float* drawn, int* bad,
                       cudaStream_t stream);

// Adds what was drawn where it was drawn.
cudaError_t AddDrawn(uint64_t seed, const float* drawn, size_t draws,
                     float* accumulators, size_t count, cudaStream_t stream);

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_SPARSE_CUDA_RANDOM_K_H_
