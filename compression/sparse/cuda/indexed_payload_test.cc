#include "compression/sparse/cuda/indexed_payload.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "compression/cuda/testing/twin_test.h"
#include "compression/sparse/cuda/selection.h"
#include "compression/sparse/sparse_codec.h"
#include "compression/sparse/threshold_top_k.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using IndexedPayloadCudaTest = TwinTest;

struct Twin {
  CodecId id;
  int ratio;
};
// top_k/4 and /256, and threshold_top_k/32.
constexpr Twin kTwins[] = {{CodecId::kTopKIn4, 4},
                           {static_cast<CodecId>(78), 256},
                           {static_cast<CodecId>(91), 32}};

cuda::IndexedCounts CountsOf(const Twin& twin, size_t elements) {
  const size_t kept = KeptElements(elements, 1.0 / twin.ratio);
  if (twin.id < CodecId::kThresholdTopKIn4) return {kept, kept};
  return {0, std::min(2 * kept, elements)};
}

DeviceKernels Decoders(const Twin& twin) {
  return {.decode =
              [twin](const std::byte* payload, size_t bytes, size_t count,
                     float* values, int* bad) {
                const DeviceArray<std::byte> scratch(
                    cuda::IndexedScratchBytes(bytes));
                return cuda::DecodeIndexed(CountsOf(twin, count), payload,
                                           bytes, count, values, scratch.get(),
                                           bad, nullptr);
              },
          .decode_add =
              [twin](const std::byte* payload, size_t bytes, size_t count,
                     float* accumulators, int* bad) {
                const DeviceArray<std::byte> scratch(
                    cuda::IndexedScratchBytes(bytes));
                return cuda::DecodeAddIndexed(CountsOf(twin, count), payload,
                                              bytes, count, accumulators,
                                              scratch.get(), bad, nullptr);
              }};
}

// Encodes as top_k does: selects values and writes their payload.
cudaError_t EncodeTopK(const Twin& twin, const float* values, size_t count,
                       std::byte* payload, size_t* bytes, int* bad) {
  const size_t kept = CountsOf(twin, count).most;
  const DeviceArray<uint64_t> places(kept);
  const DeviceArray<float> sent(kept);
  if (kept > 0) {
    const DeviceArray<std::byte> scratch(cuda::SelectScratchBytes(count));
    const cudaError_t error =
        cuda::SelectTopK(values, count, kept, places.get(), sent.get(),
                         scratch.get(), bad, nullptr);
    if (error != cudaSuccess) return error;
  }
  const DeviceArray<uint64_t> size(1);
  const DeviceArray<std::byte> scratch(cuda::IndexedEncodeScratchBytes(kept));
  const cudaError_t error =
      cuda::EncodeIndexed(places.get(), sent.get(), kept, count, payload,
                          size.get(), scratch.get(), bad, nullptr);
  *bytes = size.Get()[0];
  return error;
}

DeviceKernels Kernels(const Twin& twin) {
  DeviceKernels kernels = Decoders(twin);
  if (twin.id >= CodecId::kThresholdTopKIn4) return kernels;
  kernels.encode = [twin](const float* values, size_t count, std::byte* payload,
                          size_t* bytes, int* bad) {
    return EncodeTopK(twin, values, count, payload, bytes, bad);
  };
  return kernels;
}

TEST_F(IndexedPayloadCudaTest, BytesAndBitsAreThoseOfTheProcessor) {
  for (const Twin& twin : {kTwins[0], kTwins[2]}) {
    SCOPED_TRACE(CodecName(twin.id));
    ExpectBytesAndBitsOfTheProcessor(Kernels(twin), twin.id);
  }
}

TEST_F(IndexedPayloadCudaTest, TilesMeet) {
  Random random(7);
  std::vector<float> values(60000);
  for (float& value : values) value = static_cast<float>(random.Uniform());
  for (const Twin& twin : kTwins) {
    SCOPED_TRACE(CodecName(twin.id));
    ExpectBytesAndBitsOfTheProcessor(Kernels(twin), twin.id, values);
  }
}

TEST_F(IndexedPayloadCudaTest, OfEqualMagnitudesTheFirstAreSent) {
  Random random(8);
  std::vector<float> values(13000);
  for (float& value : values) {
    value = static_cast<float>(random.Below(8)) - 4.0f;
  }
  for (const Twin& twin : kTwins) {
    SCOPED_TRACE(CodecName(twin.id));
    ExpectBytesAndBitsOfTheProcessor(Kernels(twin), twin.id, values);
  }
}

TEST_F(IndexedPayloadCudaTest, WhatTheProcessorRefusesIsFlagged) {
  ExpectRefusalsOfTheProcessor(Kernels(kTwins[0]), kTwins[0].id);
}

// threshold_top_k with a threshold that is given.
struct FixedThreshold {
  float threshold;
  int ratio;

  std::unique_ptr<const Codec> OnProcessor() const {
    return *MakeThresholdTopK(
        {.density = 1.0 / ratio, .values = CodecId::kInt8Block},
        [value = threshold](std::span<const float>, size_t, Workspace&) {
          return Threshold{value, 0};
        });
  }
  size_t Most(size_t count) const {
    return std::min(2 * KeptElements(count, 1.0 / ratio), count);
  }
};

cudaError_t EncodeReached(const FixedThreshold& twin, const float* values,
                          size_t count, std::byte* payload, size_t* bytes,
                          int* bad) {
  const size_t most = twin.Most(count);
  const DeviceArray<uint64_t> places(most);
  const DeviceArray<float> sent(most);
  const DeviceArray<uint64_t> found(std::vector<uint64_t>{0});
  if (count > 0) {
    const DeviceArray<std::byte> scratch(cuda::SelectScratchBytes(count));
    const cudaError_t error = cuda::SelectAtLeast(
        values, count, twin.threshold, most, places.get(), sent.get(),
        found.get(), scratch.get(), bad, nullptr);
    if (error != cudaSuccess) return error;
  }
  const size_t kept = found.Get()[0];
  const DeviceArray<uint64_t> size(1);
  const DeviceArray<std::byte> scratch(cuda::IndexedEncodeScratchBytes(kept));
  const cudaError_t error =
      cuda::EncodeIndexed(places.get(), sent.get(), kept, count, payload,
                          size.get(), scratch.get(), bad, nullptr);
  *bytes = size.Get()[0];
  return error;
}

DeviceKernels KernelsOf(const FixedThreshold& twin) {
  const auto counts = [twin](size_t count) {
    return cuda::IndexedCounts{0, twin.Most(count)};
  };
  return {.encode =
              [twin](const float* values, size_t count, std::byte* payload,
                     size_t* bytes, int* bad) {
                return EncodeReached(twin, values, count, payload, bytes, bad);
              },
          .decode =
              [counts](const std::byte* payload, size_t bytes, size_t count,
                       float* values, int* bad) {
                const DeviceArray<std::byte> scratch(
                    cuda::IndexedScratchBytes(bytes));
                return cuda::DecodeIndexed(counts(count), payload, bytes, count,
                                           values, scratch.get(), bad, nullptr);
              },
          .decode_add =
              [counts](const std::byte* payload, size_t bytes, size_t count,
                       float* accumulators, int* bad) {
                const DeviceArray<std::byte> scratch(
                    cuda::IndexedScratchBytes(bytes));
                return cuda::DecodeAddIndexed(counts(count), payload, bytes,
                                              count, accumulators,
                                              scratch.get(), bad, nullptr);
              }};
}

// Nothing, something and more than may be sent; zeros are not.
TEST_F(IndexedPayloadCudaTest, WhatReachesAThresholdIsSentUpToTheCap) {
  for (const FixedThreshold& twin :
       {FixedThreshold{0.0f, 1}, FixedThreshold{0.0f, 4},
        FixedThreshold{0.7f, 8}, FixedThreshold{0.7f, 4},
        FixedThreshold{1e9f, 16}}) {
    SCOPED_TRACE(testing::Message() << twin.threshold << ", " << twin.ratio);
    ExpectBytesAndBitsOfTheProcessor(KernelsOf(twin), *twin.OnProcessor());
  }
  const FixedThreshold twin = {0.3f, 4};
  ExpectRefusalsOfTheProcessor(KernelsOf(twin), *twin.OnProcessor());
}

void Append(std::vector<std::byte>& payload, const std::vector<int>& bytes) {
  for (const int byte : bytes) payload.push_back(static_cast<std::byte>(byte));
}

const std::vector<int> kTwo = {2, 0, 0, 0};
const std::vector<int> kHalf = {0, 0, 0, 0x3f};  // as fp32

// A payload of two values with these gaps.
std::vector<std::byte> PayloadOf(const std::vector<int>& gaps) {
  std::vector<std::byte> payload;
  for (const auto& part : {kTwo, gaps, kHalf, {127, 0xff}}) {
    Append(payload, part);
  }
  return payload;
}

// A payload of two values of one stretch with these bits.
std::vector<std::byte> MarkedPayloadOf(const std::vector<int>& marks) {
  std::vector<std::byte> payload;
  for (const auto& part : {kTwo, kHalf, marks, {127, 0xff}}) {
    Append(payload, part);
  }
  return payload;
}

TEST_F(IndexedPayloadCudaTest, BrokenGapsAreRefusedAsByTheProcessor) {
  const std::vector<int> several[] = {
      {0, 0},
      {0, 6},
      {3, 3},
      {0, 15},
      {0, 16},  // behind the last element
      {17, 0},
      {0x80, 0x00, 0},  // not the shortest
      {0x83, 0x00, 0},
      {0x88, 0x01, 0},  // 136
      {0},
      {0, 0, 0},
      {},
      {0, 0, 0x80},  // without an end
      {0x80, 0x80},
      {0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},  // 2^63 - 1
      {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff,
       0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},  // twice: -2
      {0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
      {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01,
       0x00},
  };
  for (const std::vector<int>& gaps : several) {
    std::string name;
    for (const int byte : gaps) name += std::to_string(byte) + " ";
    SCOPED_TRACE(name);
    ExpectAnswerOfTheProcessor(Kernels(kTwins[2]), kTwins[2].id,
                               PayloadOf(gaps), 17);
  }
}

TEST_F(IndexedPayloadCudaTest, BrokenMarksAreRefusedAsByTheProcessor) {
  for (const std::vector<int>& marks : std::vector<std::vector<int>>{
           {0x05}, {0x03}, {0x41}, {0x01}, {0x07}, {0x81}, {}, {3, 0}, {0}}) {
    std::string name;
    for (const int byte : marks) name += std::to_string(byte) + " ";
    SCOPED_TRACE(name);
    ExpectAnswerOfTheProcessor(Kernels(kTwins[0]), kTwins[0].id,
                               MarkedPayloadOf(marks), 7);
  }
}

TEST_F(IndexedPayloadCudaTest, EveryScaleIsCheckedAlsoOfWhatSendsNothing) {
  constexpr size_t kElements = 2000;  // two stretches of 1024 places
  std::vector<float> values(kElements, 0.0f);
  std::fill_n(values.begin(), 600, 1.5f);
  std::vector<std::byte> payload;
  ASSERT_TRUE((*FindCodec(CodecId::kTopKIn4))->Encode(values, payload).ok());
  for (const size_t at : {size_t{4}, size_t{8}}) {
    for (const int highest : {0x3f, 0xbf, 0x01, 0x7f}) {
      std::vector<std::byte> changed = payload;
      changed[at + 3] = static_cast<std::byte>(highest);
      SCOPED_TRACE(testing::Message() << at << " " << highest);
      ExpectAnswerOfTheProcessor(Kernels(kTwins[0]), kTwins[0].id, changed,
                                 kElements);
    }
  }
}

TEST_F(IndexedPayloadCudaTest, AnyBytesGetTheAnswerOfTheProcessor) {
  Random random(11);
  const Twin& twin = kTwins[2];  // any count may be good
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<std::byte> payload(random.Below(40));
    for (std::byte& byte : payload) {
      // Often small, or nothing would be accepted.
      byte = static_cast<std::byte>(random.Below(4) == 0 ? random.Below(256)
                                                         : random.Below(4));
    }
    if (payload.size() >= 4) {
      std::fill(payload.begin() + 1, payload.begin() + 4, std::byte{0});
    }
    SCOPED_TRACE(trial);
    ExpectAnswerOfTheProcessor(Kernels(twin), twin.id, payload, 50);
  }
}

}  // namespace
}  // namespace skerry::compression
