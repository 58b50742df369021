#include "compression/dense/cuda/block4.h"

#include "compression/cuda/testing/twin_test.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using Block4CudaTest = TwinTest;
using cpu::Levels4;
using cpu::Scale4;

DeviceKernels Kernels(Levels4 levels, Scale4 scale) {
  const cuda::Kind4 kind = {levels, scale};
  return KernelsOf(
      [kind](auto... arguments) {
        return cuda::EncodeBlock4(kind, arguments...);
      },
      [kind](auto... arguments) {
        return cuda::DecodeBlock4(kind, arguments...);
      },
      [kind](auto... arguments) {
        return cuda::DecodeAddBlock4(kind, arguments...);
      });
}

struct Twin {
  CodecId id;
  Levels4 levels;
  Scale4 scale;
};
constexpr Twin kTwins[] = {{CodecId::kNf4, Levels4::kNf4, Scale4::kBf16},
                           {CodecId::kNf4F32, Levels4::kNf4, Scale4::kF32},
                           {CodecId::kE3m0, Levels4::kE3m0, Scale4::kBf16},
                           {CodecId::kE3m0F32, Levels4::kE3m0, Scale4::kF32}};

TEST_F(Block4CudaTest, BytesAndBitsAreThoseOfTheProcessor) {
  for (const Twin& twin : kTwins) {
    SCOPED_TRACE(CodecName(twin.id));
    ExpectBytesAndBitsOfTheProcessor(Kernels(twin.levels, twin.scale), twin.id);
  }
}

TEST_F(Block4CudaTest, WhatTheProcessorRefusesIsFlagged) {
  for (const Twin& twin : kTwins) {
    SCOPED_TRACE(CodecName(twin.id));
    ExpectRefusalsOfTheProcessor(Kernels(twin.levels, twin.scale), twin.id);
  }
}

}  // namespace
}  // namespace skerry::compression
