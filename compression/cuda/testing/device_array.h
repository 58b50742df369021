// compression/cuda/testing/device_array.h
//
// Holds memory of the current device, which is freed with the object.
#ifndef SKERRY_COMPRESSION_CUDA_TESTING_DEVICE_ARRAY_H_
#define SKERRY_COMPRESSION_CUDA_TESTING_DEVICE_ARRAY_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::compression {

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, count * sizeof(T)), cudaSuccess);
    memory_.reset(static_cast<T*>(memory));
  }
  explicit DeviceArray(const std::vector<T>& from) : DeviceArray(from.size()) {
    EXPECT_EQ(cudaMemcpy(get(), from.data(), count_ * sizeof(T),
                         cudaMemcpyHostToDevice),
              cudaSuccess);
  }

  T* get() const { return memory_.get(); }

  // Once what was queued before is done.
  std::vector<T> Get() const {
    std::vector<T> host(count_);
    EXPECT_EQ(cudaMemcpy(host.data(), get(), count_ * sizeof(T),
                         cudaMemcpyDeviceToHost),
              cudaSuccess);
    return host;
  }

 private:
  struct Free {
    void operator()(void* memory) const { cudaFree(memory); }
  };

  size_t count_;
  std::unique_ptr<T, Free> memory_;
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_CUDA_TESTING_DEVICE_ARRAY_H_
