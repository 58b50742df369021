#include "compression/dense/cuda/fp16.h"

#include "compression/cuda/testing/twin_test.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using Fp16CudaTest = TwinTest;

const DeviceKernels kKernels =
    KernelsOf(cuda::EncodeFp16, cuda::DecodeFp16, cuda::DecodeAddFp16);

TEST_F(Fp16CudaTest, BytesAndBitsAreThoseOfTheProcessor) {
  ExpectBytesAndBitsOfTheProcessor(kKernels, CodecId::kFp16);
}

TEST_F(Fp16CudaTest, WhatTheProcessorRefusesIsFlagged) {
  ExpectRefusalsOfTheProcessor(kKernels, CodecId::kFp16);
}

}  // namespace
}  // namespace skerry::compression
