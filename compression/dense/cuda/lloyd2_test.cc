#include "compression/dense/cuda/lloyd2.h"

#include "compression/cuda/testing/twin_test.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using Lloyd2CudaTest = TwinTest;

const DeviceKernels kKernels =
    KernelsOf(cuda::EncodeLloyd2, cuda::DecodeLloyd2, cuda::DecodeAddLloyd2);

TEST_F(Lloyd2CudaTest, BytesAndBitsAreThoseOfTheProcessor) {
  ExpectBytesAndBitsOfTheProcessor(kKernels, CodecId::kLloyd2);
}

TEST_F(Lloyd2CudaTest, WhatTheProcessorRefusesIsFlagged) {
  ExpectRefusalsOfTheProcessor(kKernels, CodecId::kLloyd2);
}

}  // namespace
}  // namespace skerry::compression
