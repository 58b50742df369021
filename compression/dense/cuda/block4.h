// compression/dense/cuda/block4.h
//
// Implements the 4-bit codecs on a device, with the bytes and bits of
// compression/dense/cpu/block4.h, from and to device memory.
//
// All three only queue work on `stream`, and return the error of the launch.
// `*bad` is an int in device memory that the caller has set to 0. Once the work
// is done, it is not 0 if the CPU twin would have returned false. Payloads and
// values are aligned to 16 bytes.
#ifndef SKERRY_COMPRESSION_DENSE_CUDA_BLOCK4_H_
#define SKERRY_COMPRESSION_DENSE_CUDA_BLOCK4_H_

#include <cuda_runtime_api.h>

#include <cstddef>

#include "compression/dense/cpu/block4.h"

namespace skerry::compression::cuda {

struct Kind4 {
  cpu::Levels4 levels;
  cpu::Scale4 scale;
};

// Writes Bytes(count) bytes of the twin of that kind.
cudaError_t EncodeBlock4(Kind4 kind, const float* values, size_t count,
                         std::byte* payload, int* bad, cudaStream_t stream);

// Reads as many and overwrites `values`.
cudaError_t DecodeBlock4(Kind4 kind, const std::byte* payload, size_t count,
                         float* values, int* bad, cudaStream_t stream);

// accumulators[i] += decoded[i].
cudaError_t DecodeAddBlock4(Kind4 kind, const std::byte* payload, size_t count,
                            float* accumulators, int* bad, cudaStream_t stream);

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_DENSE_CUDA_BLOCK4_H_
