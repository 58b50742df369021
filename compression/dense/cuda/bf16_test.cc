#include "compression/dense/cuda/bf16.h"

#include "compression/cuda/testing/twin_test.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using Bf16CudaTest = TwinTest;

const DeviceKernels kKernels =
    KernelsOf(cuda::EncodeBf16, cuda::DecodeBf16, cuda::DecodeAddBf16);

TEST_F(Bf16CudaTest, BytesAndBitsAreThoseOfTheProcessor) {
  ExpectBytesAndBitsOfTheProcessor(kKernels, CodecId::kBf16);
}

TEST_F(Bf16CudaTest, WhatTheProcessorRefusesIsFlagged) {
  ExpectRefusalsOfTheProcessor(kKernels, CodecId::kBf16);
}

}  // namespace
}  // namespace skerry::compression
