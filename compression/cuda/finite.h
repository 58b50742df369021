// compression/cuda/finite.h
//
// Whether all values of a slice are finite.
#ifndef SKERRY_COMPRESSION_CUDA_FINITE_H_
#define SKERRY_COMPRESSION_CUDA_FINITE_H_

#include <cuda_runtime_api.h>

#include <cstddef>

namespace skerry::compression::cuda {

// Only queues work on `stream`: `*bad`, in device memory, becomes another
// number than 0 where one is not. Returned is the error of the launch.
cudaError_t FlagNotFinite(const float* values, size_t count, int* bad,
                          cudaStream_t stream);

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_CUDA_FINITE_H_
