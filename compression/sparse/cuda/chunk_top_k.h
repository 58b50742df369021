// compression/sparse/cuda/chunk_top_k.h
//
// chunk_top_k on a device: the bytes and bits of
// compression/sparse/chunk_top_k.cc, from and to device memory.
//
// Functions that take a `stream` only queue work on it, and return the error of
// a launch. `kept` is how many of each 4096 values are sent, at least 1 and at
// most all. `*bad` is an int in device memory that the caller has set to 0.
// Once the work is done, it is not 0 if the processor would have refused.
// Payloads are aligned to 4 bytes.
#ifndef SKERRY_COMPRESSION_SPARSE_CUDA_CHUNK_TOP_K_H_
#define SKERRY_COMPRESSION_SPARSE_CUDA_CHUNK_TOP_K_H_

#include <cuda_runtime_api.h>

#include <cstddef>

namespace skerry::compression::cuda {

// Bytes of the payload of `count` values.
size_t ChunkTopKBytes(size_t kept, size_t count);

// Bytes of the scratch memory that encoding takes. It is aligned to 8 bytes.
size_t ChunkTopKScratchBytes(size_t kept, size_t count);

// Writes ChunkTopKBytes(kept, count) bytes.
cudaError_t EncodeChunkTopK(size_t kept, const float* values, size_t count,
                            std::byte* payload, std::byte* scratch, int* bad,
                            cudaStream_t stream);

// Reads ChunkTopKBytes(kept, count) bytes and overwrites `values`.
cudaError_t DecodeChunkTopK(size_t kept, const std::byte* payload, size_t count,
                            float* values, int* bad, cudaStream_t stream);

// Adds to the accumulators at the places that were sent.
cudaError_t DecodeAddChunkTopK(size_t kept, const std::byte* payload,
                               size_t count, float* accumulators, int* bad,
                               cudaStream_t stream);

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_SPARSE_CUDA_CHUNK_TOP_K_H_
