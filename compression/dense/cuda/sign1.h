// compression/dense/cuda/sign1.h
//
// Implements one bit a value on a device, with the bytes and bits of
// compression/dense/cpu/sign1.h, from and to device memory.
//
// All functions only queue work on `stream`, and return the error of the
// launch. `*bad` is an int in device memory that the caller has set to 0. Once
// the work is done, it is not 0 if the CPU twin would have returned false.
// Payloads and values are aligned to 16 bytes.
#ifndef SKERRY_COMPRESSION_DENSE_CUDA_SIGN1_H_
#define SKERRY_COMPRESSION_DENSE_CUDA_SIGN1_H_

#include <cuda_runtime_api.h>

#include <cstddef>

namespace skerry::compression::cuda {

// Writes Sign1::Bytes(count) bytes.
cudaError_t EncodeSign1(const float* values, size_t count, std::byte* payload,
                        int* bad, cudaStream_t stream);

// Reads Sign1::Bytes(count) bytes and overwrites `values`.
cudaError_t DecodeSign1(const std::byte* payload, size_t count, float* values,
                        int* bad, cudaStream_t stream);

// accumulators[i] += decoded[i].
cudaError_t DecodeAddSign1(const std::byte* payload, size_t count,
                           float* accumulators, int* bad, cudaStream_t stream);

// As above with one scale for all: Sign1Whole::Bytes(count) bytes. `sums` has
// room for Sign1Whole::Blocks(count) numbers and is unspecified afterwards.
cudaError_t EncodeSign1Whole(const float* values, size_t count,
                             std::byte* payload, double* sums, int* bad,
                             cudaStream_t stream);
cudaError_t DecodeSign1Whole(const std::byte* payload, size_t count,
                             float* values, int* bad, cudaStream_t stream);
cudaError_t DecodeAddSign1Whole(const std::byte* payload, size_t count,
                                float* accumulators, int* bad,
                                cudaStream_t stream);

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_DENSE_CUDA_SIGN1_H_
