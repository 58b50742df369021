// compression/cuda/testing/twin_test.h
//
// A device's kernels beside the codec they are twins of: same bytes, same bits,
// same refusals, on every device. Skips itself where there is none.
#ifndef SKERRY_COMPRESSION_CUDA_TESTING_TWIN_TEST_H_
#define SKERRY_COMPRESSION_CUDA_TESTING_TWIN_TEST_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "compression/codec.h"
#include "gtest/gtest.h"

namespace skerry::compression {

struct DeviceKernels {
  std::function<cudaError_t(const float*, size_t, std::byte*, int*,
                            cudaStream_t)>
      encode;
  std::function<cudaError_t(const std::byte*, size_t, float*, int*,
                            cudaStream_t)>
      decode;
  std::function<cudaError_t(const std::byte*, size_t, float*, int*,
                            cudaStream_t)>
      decode_add;
};

class TwinTest : public ::testing::Test {
 protected:
  void SetUp() override;

  // Over the inputs of the conformance kit.
  static void ExpectBytesAndBitsOfTheProcessor(const DeviceKernels& kernels,
                                               CodecId id);
  // A value that is not finite anywhere, and payloads changed at random.
  static void ExpectRefusalsOfTheProcessor(const DeviceKernels& kernels,
                                           CodecId id);
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_CUDA_TESTING_TWIN_TEST_H_
