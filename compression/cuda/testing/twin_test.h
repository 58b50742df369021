// compression/cuda/testing/twin_test.h
//
// Compares a device's kernels with the codec that they are twins of. Both have
// to write the same bytes, decode to the same bits and refuse the same inputs,
// on every device. The test skips itself where there is no device.
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

// Functions that run kernels and wait for them. All pointers but `bytes` are to
// the device's memory.
struct DeviceKernels {
  // Encodes `count` values. `*bytes` is the room for the payload, and becomes
  // its size. Encoding is not tested where this is null.
  std::function<cudaError_t(const float* values, size_t count,
                            std::byte* payload, size_t* bytes, int* bad)>
      encode = nullptr;
  using Decode =
      std::function<cudaError_t(const std::byte* payload, size_t bytes,
                                size_t count, float* values, int* bad)>;
  Decode decode;
  Decode decode_add;
};

// Wraps the functions of a codec whose payload size follows from the count.
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

  // These compare bytes and bits for all inputs of the conformance kit.
  static void ExpectBytesAndBitsOfTheProcessor(const DeviceKernels& kernels,
                                               CodecId id);
  static void ExpectBytesAndBitsOfTheProcessor(const DeviceKernels& kernels,
                                               const Codec& codec);
  // Compares bytes and bits for these values.
  static void ExpectBytesAndBitsOfTheProcessor(
      const DeviceKernels& kernels, CodecId id,
      const std::vector<float>& values);
  // These expect slices with a value that is not finite to be refused, and
  // compare the answers to payloads that are changed at random.
  static void ExpectRefusalsOfTheProcessor(const DeviceKernels& kernels,
                                           CodecId id);
  static void ExpectRefusalsOfTheProcessor(const DeviceKernels& kernels,
                                           const Codec& codec);
  // Compares the answers to a payload of `count` values, whatever is in it.
  static void ExpectAnswerOfTheProcessor(const DeviceKernels& kernels,
                                         CodecId id,
                                         const std::vector<std::byte>& payload,
                                         size_t count);
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_CUDA_TESTING_TWIN_TEST_H_
