#include "compression/dense/cuda/int8_block.h"

#include "compression/cuda/testing/twin_test.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using Int8BlockCudaTest = TwinTest;

const DeviceKernels kKernels = KernelsOf(
    cuda::EncodeInt8Block, cuda::DecodeInt8Block, cuda::DecodeAddInt8Block);

TEST_F(Int8BlockCudaTest, BytesAndBitsAreThoseOfTheProcessor) {
  ExpectBytesAndBitsOfTheProcessor(kKernels, CodecId::kInt8Block);
}

TEST_F(Int8BlockCudaTest, WhatTheProcessorRefusesIsFlagged) {
  ExpectRefusalsOfTheProcessor(kKernels, CodecId::kInt8Block);
}

}  // namespace
}  // namespace skerry::compression
