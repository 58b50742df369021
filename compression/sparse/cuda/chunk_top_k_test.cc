#include "compression/sparse/cuda/chunk_top_k.h"

#include "compression/cuda/testing/twin_test.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using ChunkTopKCudaTest = TwinTest;

struct Twin {
  CodecId id;
  size_t kept;
};
// chunk_top_k/4, /32 and /256.
constexpr Twin kTwins[] = {{CodecId::kChunkTopKIn4, 1024},
                           {static_cast<CodecId>(83), 128},
                           {static_cast<CodecId>(86), 16}};

DeviceKernels Kernels(size_t kept) {
  return {.decode =
              [kept](const std::byte* payload, size_t bytes, size_t count,
                     float* values, int* bad) {
                EXPECT_EQ(bytes, cuda::ChunkTopKBytes(kept, count));
                return cuda::DecodeChunkTopK(kept, payload, count, values, bad,
                                             nullptr);
              },
          .decode_add =
              [kept](const std::byte* payload, size_t, size_t count,
                     float* accumulators, int* bad) {
                return cuda::DecodeAddChunkTopK(kept, payload, count,
                                                accumulators, bad, nullptr);
              }};
}

TEST_F(ChunkTopKCudaTest, BytesAndBitsAreThoseOfTheProcessor) {
  for (const Twin& twin : kTwins) {
    SCOPED_TRACE(CodecName(twin.id));
    ExpectBytesAndBitsOfTheProcessor(Kernels(twin.kept), twin.id);
  }
}

TEST_F(ChunkTopKCudaTest, WhatTheProcessorRefusesIsFlagged) {
  for (const Twin& twin : kTwins) {
    SCOPED_TRACE(CodecName(twin.id));
    ExpectRefusalsOfTheProcessor(Kernels(twin.kept), twin.id);
  }
}

}  // namespace
}  // namespace skerry::compression
