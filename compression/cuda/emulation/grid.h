// compression/cuda/emulation/grid.h
//
// Runs a kernel on the device that cudaSetDevice chose, one thread block after
// another.
#ifndef SKERRY_COMPRESSION_CUDA_EMULATION_GRID_H_
#define SKERRY_COMPRESSION_CUDA_EMULATION_GRID_H_

#include <cuda_runtime_api.h>

#include <functional>

namespace skerry::compression::cuda::emulation {

// Errors: cudaErrorInvalidConfiguration of sizes that no device takes;
// cudaErrorLaunchTimeout where RunBlock finds something, which
// cudaGetErrorString then tells. Blocks after that one have not run.
cudaError_t RunGrid(dim3 groups, dim3 threads,
                    const std::function<void()>& kernel);

}  // namespace skerry::compression::cuda::emulation

#endif  // SKERRY_COMPRESSION_CUDA_EMULATION_GRID_H_
