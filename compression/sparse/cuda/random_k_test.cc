#include "compression/sparse/cuda/random_k.h"

#include <memory>
#include <vector>

#include "compression/cuda/int8_block.h"
#include "compression/cuda/testing/twin_test.h"
#include "compression/sparse/sparse_codec.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using RandomKCudaTest = TwinTest;

constexpr uint64_t kSeed = 1234567;

std::unique_ptr<const Codec> Twin(double density) {
  return *MakeRandomK({.density = density, .values = CodecId::kInt8Block},
                      kSeed);
}

cudaError_t DecodeAdd(double density, const std::byte* payload, size_t count,
                      float* accumulators, int* bad) {
  const size_t draws = KeptElements(count, density);
  const DeviceArray<float> drawn(draws);
  const cudaError_t error =
      cuda::DecodeInt8Block(payload, draws, drawn.get(), bad, nullptr);
  if (error != cudaSuccess) return error;
  return cuda::AddDrawn(kSeed, drawn.get(), draws, accumulators, count,
                        nullptr);
}

DeviceKernels Kernels(double density) {
  return {.encode =
              [density](const float* values, size_t count, std::byte* payload,
                        size_t*, int* bad) {
                const size_t draws = KeptElements(count, density);
                const DeviceArray<float> drawn(draws);
                const cudaError_t error = cuda::DrawValues(
                    kSeed, values, count, draws, drawn.get(), bad, nullptr);
                if (error != cudaSuccess) return error;
                return cuda::EncodeInt8Block(drawn.get(), draws, payload, bad,
                                             nullptr);
              },
          .decode =
              [density](const std::byte* payload, size_t, size_t count,
                        float* values, int* bad) {
                const cudaError_t error =
                    cudaMemsetAsync(values, 0, count * sizeof(float), nullptr);
                if (error != cudaSuccess) return error;
                return DecodeAdd(density, payload, count, values, bad);
              },
          .decode_add =
              [density](const std::byte* payload, size_t, size_t count,
                        float* accumulators, int* bad) {
                return DecodeAdd(density, payload, count, accumulators, bad);
              }};
}

TEST_F(RandomKCudaTest, BytesAndBitsAreThoseOfTheProcessor) {
  for (const double density : {1.0, 0.3, 0.01}) {
    SCOPED_TRACE(density);
    ExpectBytesAndBitsOfTheProcessor(Kernels(density), *Twin(density));
  }
}

TEST_F(RandomKCudaTest, WhatTheProcessorRefusesIsFlagged) {
  ExpectRefusalsOfTheProcessor(Kernels(0.1), *Twin(0.1));
}

}  // namespace
}  // namespace skerry::compression
