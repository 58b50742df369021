#include "compression/dense/cuda/sign1.h"

#include <vector>

#include "base/random.h"
#include "compression/cuda/testing/device_array.h"
#include "compression/cuda/testing/twin_test.h"
#include "compression/dense/cpu/sign1.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using Sign1CudaTest = TwinTest;

const DeviceKernels kKernels =
    KernelsOf(cuda::EncodeSign1, cuda::DecodeSign1, cuda::DecodeAddSign1);

const DeviceKernels kWholeKernels = KernelsOf(
    [](const float* values, size_t count, std::byte* payload, int* bad,
       cudaStream_t stream) {
      const DeviceArray<double> sums(cpu::Sign1Whole::Blocks(count));
      return cuda::EncodeSign1Whole(values, count, payload, sums.get(), bad,
                                    stream);
    },
    cuda::DecodeSign1Whole, cuda::DecodeAddSign1Whole);

TEST_F(Sign1CudaTest, BytesAndBitsAreThoseOfTheProcessor) {
  ExpectBytesAndBitsOfTheProcessor(kKernels, CodecId::kSign1);
  ExpectBytesAndBitsOfTheProcessor(kWholeKernels, CodecId::kSign1Whole);
}

// More than are brought near at once.
TEST_F(Sign1CudaTest, ManyBlocksAreAddedInTheirOrder) {
  Random random(3);
  std::vector<float> values(1100 * cpu::Sign1::kElements);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.25);
  }
  ExpectBytesAndBitsOfTheProcessor(kWholeKernels, CodecId::kSign1Whole, values);
}

TEST_F(Sign1CudaTest, WhatTheProcessorRefusesIsFlagged) {
  ExpectRefusalsOfTheProcessor(kKernels, CodecId::kSign1);
  ExpectRefusalsOfTheProcessor(kWholeKernels, CodecId::kSign1Whole);
}

}  // namespace
}  // namespace skerry::compression
