// compression/cuda/emulation/include/cuda_runtime_api.h
//
// Stands in for CUDA's header of this name where kernels run on the processor.
// It has the part of CUDA's runtime library that Skerry uses. Memory of the
// device is ordinary memory, filled with 0xa5 when it is new. Every call
// returns when its work is done. Only one thread may call these.
#ifndef SKERRY_COMPRESSION_CUDA_EMULATION_INCLUDE_CUDA_RUNTIME_API_H_
#define SKERRY_COMPRESSION_CUDA_EMULATION_INCLUDE_CUDA_RUNTIME_API_H_

#include <cstddef>

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDevice = 101,
  // A device may never end the kernel that was launched.
  cudaErrorLaunchTimeout = 702,
};

enum cudaMemcpyKind {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
};

using cudaStream_t = struct CUstream_st*;

struct dim3 {
  constexpr dim3(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1)
      : x(x_size), y(y_size), z(z_size) {}
  unsigned x;
  unsigned y;
  unsigned z;
};

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  cudaStream_t stream = nullptr;
};

// Devices differ in the order in which they run blocks and threads: the first
// from the front, the second from the back, the third as chance has it, always
// the same.
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);

cudaError_t cudaMalloc(void** memory, size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes,
                       cudaMemcpyKind kind);
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes,
                            cudaStream_t stream = nullptr);

// Describes an error. For cudaErrorLaunchTimeout this is what went wrong in the
// last kernel.
const char* cudaGetErrorString(cudaError_t error);

#endif  // SKERRY_COMPRESSION_CUDA_EMULATION_INCLUDE_CUDA_RUNTIME_API_H_
