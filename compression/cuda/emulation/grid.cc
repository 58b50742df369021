#include "compression/cuda/emulation/grid.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "compression/cuda/emulation/block.h"
#include "compression/cuda/emulation/order.h"

namespace skerry::compression::cuda::emulation {
namespace {

constexpr int kDevices = 3;
constexpr size_t kAlignment = 256;
constexpr unsigned kGroupsMax = 0x7fffffff;
constexpr unsigned kGroupsAcrossMax = 0xffff;

struct Device {
  Order order{0};
  std::string failure;
};

Device& TheDevice() {
  static auto* const device = new Device;
  return *device;
}

bool Takes(dim3 groups, dim3 threads) {
  const size_t in_block = size_t{threads.x} * threads.y * threads.z;
  return in_block >= 1 && in_block <= kThreadsMax && groups.x >= 1 &&
         groups.x <= kGroupsMax && groups.y >= 1 &&
         groups.y <= kGroupsAcrossMax && groups.z >= 1 &&
         groups.z <= kGroupsAcrossMax;
}

}  // namespace

cudaError_t RunGrid(dim3 groups, dim3 threads,
                    const std::function<void()>& kernel) {
  if (!Takes(groups, threads)) return cudaErrorInvalidConfiguration;
  Device& device = TheDevice();
  blockDim = threads;
  gridDim = groups;
  std::vector<unsigned> left(size_t{groups.x} * groups.y * groups.z);
  std::iota(left.begin(), left.end(), 0u);
  while (!left.empty()) {
    const size_t at = device.order.Next(left.size());
    const unsigned index = left[at];
    left.erase(left.begin() + static_cast<ptrdiff_t>(at));
    blockIdx = {index % groups.x, index / groups.x % groups.y,
                index / groups.x / groups.y};
    device.failure = RunBlock(kernel, device.order);
    if (!device.failure.empty()) return cudaErrorLaunchTimeout;
  }
  return cudaSuccess;
}

}  // namespace skerry::compression::cuda::emulation

using skerry::compression::cuda::emulation::kAlignment;
using skerry::compression::cuda::emulation::kDevices;
using skerry::compression::cuda::emulation::Order;
using skerry::compression::cuda::emulation::TheDevice;

cudaError_t cudaGetDeviceCount(int* count) {
  *count = kDevices;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= kDevices) return cudaErrorInvalidDevice;
  TheDevice().order = Order(static_cast<uint64_t>(device));
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  *memory = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (posix_memalign(memory, kAlignment, bytes) != 0) {
    return cudaErrorMemoryAllocation;
  }
  std::memset(*memory, 0xa5, bytes);
  return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes,
                       cudaMemcpyKind /*kind*/) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes,
                            cudaStream_t /*stream*/) {
  if (bytes > 0) std::memset(memory, value, bytes);
  return cudaSuccess;
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorLaunchTimeout:
      return TheDevice().failure.c_str();
  }
  return "unrecognized error code";
}
