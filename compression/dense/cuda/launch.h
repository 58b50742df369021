// compression/dense/cuda/launch.h
//
// Starts a kernel from a .cu file. It calls the runtime library instead of
// using nvcc's own syntax, so that the same file is compiled for a device and
// for the processor (compression/cuda/emulation).
#ifndef SKERRY_COMPRESSION_DENSE_CUDA_LAUNCH_H_
#define SKERRY_COMPRESSION_DENSE_CUDA_LAUNCH_H_

#include <cuda_runtime.h>

namespace skerry::compression::cuda {

// Queues kernel(arguments...) on `stream`. Returned is the error of the launch.
template <typename... Parameters, typename... Arguments>
cudaError_t Launch(void (*kernel)(Parameters...), dim3 groups, dim3 threads,
                   cudaStream_t stream, Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = groups;
  config.blockDim = threads;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace skerry::compression::cuda

#endif  // SKERRY_COMPRESSION_DENSE_CUDA_LAUNCH_H_
