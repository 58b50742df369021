#include "compression/cuda/sign1.h"

#include "compression/cuda/testing/twin_test.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using Sign1CudaTest = TwinTest;

const DeviceKernels kKernels = {cuda::EncodeSign1, cuda::DecodeSign1,
                                cuda::DecodeAddSign1};

TEST_F(Sign1CudaTest, BytesAndBitsAreThoseOfTheProcessor) {
  ExpectBytesAndBitsOfTheProcessor(kKernels, CodecId::kSign1);
}

TEST_F(Sign1CudaTest, WhatTheProcessorRefusesIsFlagged) {
  ExpectRefusalsOfTheProcessor(kKernels, CodecId::kSign1);
}

}  // namespace
}  // namespace skerry::compression
