#include "compression/top_k/stretch_payload.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "compression/testing/backward_executor.h"
#include "compression/testing/every_simd_target.h"
#include "compression/testing/reference_sparse.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

constexpr uint64_t kSeed = 43;
constexpr size_t kCount = 150'001;
using Payload = std::vector<std::byte>;

struct Input {
  std::string name;
  std::vector<float> values;
};

std::vector<Input> Inputs() {
  Random random(kSeed);
  std::vector<Input> inputs = {
      {"heavy tail", std::vector<float>(kCount)},
      {"few magnitudes", std::vector<float>(kCount)},
      {"constant", std::vector<float>(kCount, -2.5f)},
      {"zeros", std::vector<float>(kCount, 0.0f)},
      {"mostly zeros", std::vector<float>(kCount, 0.0f)},
      {"what a stride of samples misses", std::vector<float>(kCount, 0.25f)},
      {"one stretch", std::vector<float>(kCount, 1e-35f)},
      {"small", std::vector<float>(300)},
  };
  for (float& value : inputs[0].values) {
    value = static_cast<float>((random.Uniform() - 0.5) /
                               (0.01 + random.Uniform()));
  }
  for (float& value : inputs[1].values) {
    value = static_cast<float>(random.Below(9)) - 4.0f;
  }
  for (size_t i = 5; i < kCount; i += 7000) inputs[4].values[i] = 1e-3f;
  // Samples are taken behind multiples of 128 here.
  for (size_t i = 0; i < kCount; ++i) {
    if (i % 128 >= 4) inputs[5].values[i] = 1.0f + random.Uniform();
  }
  for (size_t i = 70'000; i < 110'000; ++i) {
    inputs[6].values[i] = static_cast<float>(random.Uniform());
  }
  for (float& value : inputs[7].values) {
    value = static_cast<float>(random.Uniform() - 0.5);
  }
  return inputs;
}

// Without the count that comes before it.
Payload Reference(const std::vector<float>& values, size_t k) {
  Payload payload = ReferenceEncodeIndexed(
      values, ReferenceTopKPlaces(values, k), CodecId::kInt8Block);
  payload.erase(payload.begin(), payload.begin() + sizeof(uint32_t));
  return payload;
}

// Codes that are made in the pass that reads the slice, and those of values
// that were kept.
void ExpectBytes(const std::vector<float>& values, size_t k,
                 const Payload& expected) {
  const StretchLayout layout(values.size(), k);
  ASSERT_EQ(layout.bytes, expected.size());
  cpu::OnEverySimdTarget([&] {
    for (const int threads : {1, 16}) {
      BackwardExecutor executor(threads);
      Workspace workspace(executor);
      Payload payload(layout.bytes, std::byte{0xa5});
      ASSERT_TRUE(
          EncodeLargestStretches(values, layout, payload.data(), workspace));
      ASSERT_TRUE(payload == expected) << threads << " threads, codes";
      std::fill(payload.begin(), payload.end(), std::byte{0xa5});
      const auto selection = SelectTopK(values, k, workspace);
      ASSERT_TRUE(selection.has_value());
      EncodeStretches(*selection, layout, payload.data(), workspace);
      ASSERT_TRUE(payload == expected) << threads << " threads, values";
    }
  });
}

TEST(StretchPayloadTest, BytesAreThoseOfTheScalarTwinHoweverTheyAreMade) {
  for (const Input& input : Inputs()) {
    for (const size_t ratio : {8, 4, 2, 1}) {
      SCOPED_TRACE(testing::Message() << input.name << " / " << ratio);
      const size_t k = (input.values.size() + ratio - 1) / ratio;
      ExpectBytes(input.values, k, Reference(input.values, k));
    }
  }
}

// Enough for a second sample of what the first one leaves open.
TEST(StretchPayloadTest, BytesOfManyAreThoseOfTheScalarTwin) {
  Random random(kSeed);
  std::vector<float> values((size_t{3} << 20) + 77);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.5);
  }
  ExpectBytes(values, values.size() / 4, Reference(values, values.size() / 4));
}

TEST(StretchPayloadTest, OneValueThatIsNotFiniteIsRefusedWhereverItIs) {
  for (const Input& input : Inputs()) {
    std::vector<float> values = input.values;
    const StretchLayout layout(values.size(), (values.size() + 3) / 4);
    Payload payload(layout.bytes);
    for (const size_t at : {size_t{0}, size_t{12}, values.size() - 1}) {
      values[at] = std::numeric_limits<float>::infinity();
      Workspace workspace;
      EXPECT_FALSE(
          EncodeLargestStretches(values, layout, payload.data(), workspace))
          << input.name << " at " << at;
      values[at] = 0.5f;
    }
  }
}

TEST(StretchPayloadTest, AScaleServesAboutAsManyAsABlockHas) {
  EXPECT_EQ(StretchPlaces(1 << 20, 1 << 20), 256u);
  EXPECT_EQ(StretchPlaces(1 << 20, 1 << 19), 512u);
  EXPECT_EQ(StretchPlaces(1 << 20, 1 << 18), 1024u);
  EXPECT_EQ(StretchPlaces((1 << 20) + 1, (1 << 18) + 1), 1024u);
  EXPECT_EQ(StretchPlaces(1 << 20, 1 << 17), 2048u);
  for (size_t count = 125; count <= 1000; ++count) {
    const size_t shared = StretchPlaces(1000, count) * count / 1000;
    EXPECT_GE(shared, 192u) << count;
    EXPECT_LT(shared, 384u) << count;
  }
  // More than 2^57, which 192 would take beyond 64 bits.
  EXPECT_EQ(StretchPlaces(size_t{1} << 60, size_t{1} << 58), 1024u);
}

// What is sent, added up.
double SumOf(const Payload& payload, const StretchLayout& layout, bool& good) {
  double sum = 0.0;
  Workspace workspace;
  good = DecodeStretches(payload, layout, workspace,
                         [&](const MarkedRange& range) {
                           for (size_t i = 0; i < range.count; ++i) {
                             sum += range.values[i];
                           }
                         });
  return sum;
}

TEST(StretchPayloadTest, BrokenScalesCodesBitsAndSizesAreRefused) {
  // Only the first stretch sends values.
  std::vector<float> values(4000, 0.0f);
  for (size_t i = 0; i < 1000; ++i) values[i] = 127.0f;
  const StretchLayout layout(values.size(), 1000);
  ASSERT_EQ(layout.places, 1024u);
  Payload payload(layout.bytes);
  Workspace workspace;
  ASSERT_TRUE(
      EncodeLargestStretches(values, layout, payload.data(), workspace));
  bool good = false;
  EXPECT_EQ(SumOf(payload, layout, good), 127'000.0);
  EXPECT_TRUE(good);
  const auto refused = [&](size_t at, auto value) {
    Payload broken = payload;
    std::memcpy(broken.data() + at, &value, sizeof(value));
    SumOf(broken, layout, good);
    return !good;
  };
  for (const size_t stretch : {0, 1, 3}) {
    const size_t at = stretch * sizeof(float);
    EXPECT_FALSE(refused(at, 2.0f)) << stretch;
    EXPECT_TRUE(refused(at, -2.0f)) << stretch;
    EXPECT_TRUE(refused(at, 0x1p-120f)) << stretch;
    EXPECT_TRUE(refused(at, std::numeric_limits<float>::quiet_NaN()))
        << stretch;
  }
  EXPECT_TRUE(refused(layout.codes_at, int8_t{-128}));
  EXPECT_TRUE(refused(layout.codes_at + 999, int8_t{-128}));
  EXPECT_TRUE(refused(layout.marks_at, uint8_t{0xfe}));
  payload.push_back(std::byte{0});
  SumOf(payload, layout, good);
  EXPECT_FALSE(good);
}

// As long, with bits first and scales of values in order: what 0011 describes.
TEST(StretchPayloadTest, BitsBeforeScalesAreRefused) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    std::vector<float> values(2048 + random.Below(8192));
    for (float& value : values) {
      value = static_cast<float>(random.Uniform() - 0.5);
    }
    const size_t k = values.size() / 4;
    const auto places = ReferenceTopKPlaces(values, k);
    const StretchLayout layout(values.size(), k);
    Payload payload(MarkBytes(values.size()));
    for (const size_t place : places) {
      payload[place / 8] |= std::byte{1} << place % 8;
    }
    const Payload in_order =
        ReferenceEncodeValues(values, places, CodecId::kInt8Block);
    payload.insert(payload.end(), in_order.begin(), in_order.end());
    payload.resize(layout.bytes);
    bool good = true;
    SumOf(payload, layout, good);
    EXPECT_FALSE(good) << "seed " << seed;
  }
}

}  // namespace
}  // namespace skerry::compression
