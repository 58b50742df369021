#include "compression/sparse/cuda/chunk_top_k.h"

#include <vector>

#include "base/random.h"
#include "compression/cuda/testing/device_array.h"
#include "compression/cuda/testing/twin_test.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using ChunkTopKCudaTest = TwinTest;

struct Twin {
  CodecId id;
  size_t kept;
};
// chunk_top_k/4, which has bits instead of places, /32 and /256.
constexpr Twin kTwins[] = {{CodecId::kChunkTopKIn4, 1024},
                           {static_cast<CodecId>(83), 128},
                           {static_cast<CodecId>(86), 16}};

DeviceKernels Kernels(size_t kept) {
  return {.encode =
              [kept](const float* values, size_t count, std::byte* payload,
                     size_t*, int* bad) {
                const DeviceArray<std::byte> scratch(
                    cuda::ChunkTopKScratchBytes(kept, count));
                return cuda::EncodeChunkTopK(kept, values, count, payload,
                                             scratch.get(), bad, nullptr);
              },
          .decode =
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

TEST_F(ChunkTopKCudaTest, ManyTiesAndChunksAreThoseOfTheProcessor) {
  Random random(9);
  std::vector<float> values(5 * 4096 + 100);
  for (float& value : values) {
    value = static_cast<float>(random.Below(20)) - 10.0f;
  }
  for (const Twin& twin : kTwins) {
    SCOPED_TRACE(CodecName(twin.id));
    ExpectBytesAndBitsOfTheProcessor(Kernels(twin.kept), twin.id, values);
  }
}

TEST_F(ChunkTopKCudaTest, LevelsOfSeveralGroupsAreThoseOfTheProcessor) {
  Random random(10);
  std::vector<float> values(17 * 4096 + 5);
  for (size_t i = 0; i < values.size(); ++i) {
    const double scale = i < 16 * 4096 ? 1.0 : 100.0;
    values[i] = static_cast<float>(scale * (random.Uniform() - 0.4));
  }
  ExpectBytesAndBitsOfTheProcessor(Kernels(1024), CodecId::kChunkTopKIn4,
                                   values);
}

TEST_F(ChunkTopKCudaTest, WhatTheProcessorRefusesIsFlagged) {
  for (const Twin& twin : kTwins) {
    SCOPED_TRACE(CodecName(twin.id));
    ExpectRefusalsOfTheProcessor(Kernels(twin.kept), twin.id);
  }
}

}  // namespace
}  // namespace skerry::compression
