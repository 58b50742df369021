// compression/sparse/cuda/indexed_payload.h
//
// The payloads of compression/sparse/indexed_payload.h on a device, with values
// by int8_block, as top_k/N and threshold_top_k/N have them.
//
// Functions that take a `stream` only queue work on it, and return the error of
// a launch. `*bad` is an int in device memory that the caller has set to 0.
// Once the work is done, it is not 0 if the processor would have refused.
// Whatever a payload says, nothing outside of it and of the values is touched.
#ifndef SKERRY_COMPRESSION_SPARSE_CUDA_INDEXED_PAYLOAD_H_
#define SKERRY_COMPRESSION_SPARSE_CUDA_INDEXED_PAYLOAD_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace skerry::compression::cuda {

// Bytes of the scratch memory that encoding `sent` values takes. It is aligned
// to 8 bytes.
size_t IndexedEncodeScratchBytes(size_t sent);

// Writes a payload of the `sent` values at `places`, which ascend and are below
// `elements`, and its size to `*bytes`, in device memory. Requires: sent <
// 2^32, values aligned to 16 bytes, the payload aligned to 4, and room for its
// largest size.
cudaError_t EncodeIndexed(const uint64_t* places, const float* values,
                          size_t sent, size_t elements, std::byte* payload,
                          uint64_t* bytes, std::byte* scratch, int* bad,
                          cudaStream_t stream);

// How many values a payload may hold.
struct IndexedCounts {
  size_t least;
  size_t most;
};

// Bytes of the scratch memory that decoding a payload of `bytes` takes. It is
// aligned to 8 bytes.
size_t IndexedScratchBytes(size_t bytes);

// Reads `bytes` of payload and overwrites `count` values. Requires: count <
// 2^40, bytes < 2^34.
cudaError_t DecodeIndexed(IndexedCounts counts, const std::byte* payload,
                          size_t bytes, size_t count, float* values,
                          std::byte* scratch, int* bad, cudaStream_t stream);

// Adds to the accumulators at the places that were sent.
cudaError_t DecodeAddIndexed(IndexedCounts counts, const std::byte* payload,
                             size_t bytes, size_t count, float* accumulators,
                             std::byte* scratch, int* bad, cudaStream_t stream);

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_SPARSE_CUDA_INDEXED_PAYLOAD_H_
