// compression/dense/cuda/lloyd2.h
//
// Implements two bits a value on a device, with the bytes and bits of
// compression/dense/cpu/lloyd2.h, from and to device memory.
//
// All functions only queue work on `stream`, and return the error of the
// launch. `*bad` is an int in device memory that the caller has set to 0. Once
// the work is done, it is not 0 if the CPU twin would have returned false.
// Payloads and values are aligned to 16 bytes.
#ifndef SKERRY_COMPRESSION_DENSE_CUDA_LLOYD2_H_
#define SKERRY_COMPRESSION_DENSE_CUDA_LLOYD2_H_

#include <cuda_runtime_api.h>

#include <cstddef>

namespace skerry::compression::cuda {

// Writes Lloyd2::Bytes(count) bytes.
cudaError_t EncodeLloyd2(const float* values, size_t count, std::byte* payload,
                         int* bad, cudaStream_t stream);

// Reads Lloyd2::Bytes(count) bytes and overwrites `values`.
cudaError_t DecodeLloyd2(const std::byte* payload, size_t count, float* values,
                         int* bad, cudaStream_t stream);

// accumulators[i] += decoded[i].
cudaError_t DecodeAddLloyd2(const std::byte* payload, size_t count,
                            float* accumulators, int* bad, cudaStream_t stream);

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_DENSE_CUDA_LLOYD2_H_
