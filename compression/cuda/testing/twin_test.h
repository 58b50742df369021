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
#include "compression/cuda/testing/device_array.h"
#include "gtest/gtest.h"

namespace skerry::compression {

// What runs kernels and waits for them; memory is the device's.
struct DeviceKernels {
  // Of `count` values. `*bytes` is what there is room for in the payload, and
  // becomes its size. None: not to be tested.
  std::function<cudaError_t(const float* values, size_t count,
                            std::byte* payload, size_t* bytes, int* bad)>
      encode = nullptr;
  using Decode =
      std::function<cudaError_t(const std::byte* payload, size_t bytes,
                                size_t count, float* values, int* bad)>;
  Decode decode;
  Decode decode_add;
};

// Of functions as codecs have them whose size follows from the count.
template <typename Encode, typename Decode, typename DecodeAdd>
DeviceKernels KernelsOf(const Encode& encode, const Decode& decode,
                        const DecodeAdd& decode_add) {
  return {.encode =
              [=](const float* values, size_t count, std::byte* payload,
                  size_t*, int* bad) {
                return encode(values, count, payload, bad, nullptr);
              },
          .decode =
              [=](const std::byte* payload, size_t, size_t count, float* values,
                  int* bad) {
                return decode(payload, count, values, bad, nullptr);
              },
          .decode_add =
              [=](const std::byte* payload, size_t, size_t count,
                  float* accumulators, int* bad) {
                return decode_add(payload, count, accumulators, bad, nullptr);
              }};
}

class TwinTest : public ::testing::Test {
 protected:
  void SetUp() override;

  // Over the inputs of the conformance kit.
  static void ExpectBytesAndBitsOfTheProcessor(const DeviceKernels& kernels,
                                               CodecId id);
  static void ExpectBytesAndBitsOfTheProcessor(const DeviceKernels& kernels,
                                               const Codec& codec);
  // Of these values.
  static void ExpectBytesAndBitsOfTheProcessor(
      const DeviceKernels& kernels, CodecId id,
      const std::vector<float>& values);
  // A value that is not finite anywhere, and payloads changed at random.
  static void ExpectRefusalsOfTheProcessor(const DeviceKernels& kernels,
                                           CodecId id);
  static void ExpectRefusalsOfTheProcessor(const DeviceKernels& kernels,
                                           const Codec& codec);
  // Of a payload of `count` values, whatever it is.
  static void ExpectAnswerOfTheProcessor(const DeviceKernels& kernels,
                                         CodecId id,
                                         const std::vector<std::byte>& payload,
                                         size_t count);
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_CUDA_TESTING_TWIN_TEST_H_
