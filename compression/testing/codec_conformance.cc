#include "compression/testing/codec_conformance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "base/random.h"
#include "compression/testing/backward_executor.h"
#include "compression/testing/codec_inputs.h"
#include "compression/testing/every_simd_target.h"
#include "compression/testing/reference_codecs.h"

namespace skerry::compression {
namespace {

constexpr uint64_t kSeed = 20240611;

bool SameBits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

bool EveryFinite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value); });
}

}  // namespace

std::vector<std::byte> CodecConformance::Encode(
    std::span<const float> values) const {
  std::vector<std::byte> payload(3, std::byte{0xee});
  const absl::Status status = codec().Encode(values, payload);
  EXPECT_TRUE(status.ok()) << status;
  return payload;
}

std::vector<float> CodecConformance::Decode(std::span<const std::byte> payload,
                                            size_t count) const {
  std::vector<float> values(count, -77.0f);
  const absl::Status status = codec().Decode(payload, values);
  EXPECT_TRUE(status.ok()) << status;
  return values;
}

TEST_P(DenseCodecConformance, NameAndNumberRoundTrip) {
  const auto parsed = ParseCodecName(CodecName(codec().id()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, codec().id());
}

TEST_P(DenseCodecConformance, ErrorStaysWithinThePromise) {
  for (const CodecInput& input : CodecInputs(kSeed)) {
    const std::vector<float> decoded =
        Decode(Encode(input.values), input.values.size());
    for (size_t i = 0; i < decoded.size(); ++i) {
      ASSERT_LE(std::fabs(static_cast<double>(decoded[i]) - input.values[i]),
                ErrorBound(codec().id(), input.values, i))
          << input.name << " at " << i << ": " << input.values[i] << " became "
          << decoded[i];
    }
  }
}

TEST_P(CodecConformance, EverySimdTargetGivesTheBytesOfTheScalarTwin) {
  int targets = 0;
  cpu::OnEverySimdTarget([&] {
    ++targets;
    for (const CodecInput& input : CodecInputs(kSeed)) {
      const std::vector<std::byte> payload = Encode(input.values);
      ASSERT_EQ(payload, GetParam().encode(input.values)) << input.name;
      ASSERT_LE(payload.size(), codec().MaxEncodedBytes(input.values.size()));
      const std::vector<float> decoded = Decode(payload, input.values.size());
      ASSERT_TRUE(EveryFinite(decoded)) << input.name;
      ASSERT_TRUE(SameBits(decoded, GetParam().decoded(input.values)))
          << input.name;
    }
  });
  EXPECT_GE(targets, 1);
  RecordProperty("simd_targets", targets);
}

TEST_P(CodecConformance, DecodeAddIsDecodeThenAdd) {
  Random random(kSeed);
  for (const CodecInput& input : CodecInputs(kSeed)) {
    const std::vector<std::byte> payload = Encode(input.values);
    std::vector<float> sum(input.values.size());
    for (float& value : sum) value = static_cast<float>(random.Uniform() - 0.5);
    std::vector<float> expected = Decode(payload, input.values.size());
    for (size_t i = 0; i < sum.size(); ++i) expected[i] = sum[i] + expected[i];
    ASSERT_TRUE(codec().DecodeAdd(payload, sum).ok());
    ASSERT_TRUE(SameBits(sum, expected)) << input.name;
  }
}

// Above the size from which slices are cut, and no whole number of parts.
TEST_P(CodecConformance, PartsGiveTheBytesAndBitsOfTheWhole) {
  std::vector<float> values(3 * (size_t{1} << 16) + 4321);
  Random random(kSeed);
  for (float& value : values) {
    value = static_cast<float>((random.Uniform() - 0.5) /
                               (0.01 + random.Uniform()));
  }
  const std::vector<std::byte> payload = Encode(values);
  const std::vector<float> decoded = Decode(payload, values.size());
  BackwardExecutor executor(3);
  Workspace workspace(executor);
  std::vector<std::byte> parts_payload;
  ASSERT_TRUE(codec().Encode(values, parts_payload, workspace).ok());
  ASSERT_EQ(parts_payload, payload);
  std::vector<float> parts_decoded(values.size(), 3.0f);
  ASSERT_TRUE(codec().Decode(payload, parts_decoded, workspace).ok());
  ASSERT_TRUE(SameBits(parts_decoded, decoded));
  ASSERT_TRUE(codec().DecodeAdd(payload, parts_decoded, workspace).ok());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(parts_decoded[i], decoded[i] + decoded[i]) << i;
  }
  values[100000] = std::numeric_limits<float>::quiet_NaN();
  const absl::Status status = codec().Encode(values, parts_payload, workspace);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(status.message().find("value 100000 of"), absl::string_view::npos);
}

TEST_P(CodecConformance, NotANumberAndInfinityAreRefusedByIndex) {
  std::vector<std::byte> payload;
  for (const size_t count : {1, 255, 256, 300, 2000}) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
      std::vector<float> values(count, 0.5f);
      values[count * 2 / 3] = bad;
      const absl::Status status = codec().Encode(values, payload);
      ASSERT_TRUE(absl::IsInvalidArgument(status)) << status;
      const std::string wanted =
          "value " + std::to_string(count * 2 / 3) + " of";
      EXPECT_NE(status.message().find(wanted), absl::string_view::npos)
          << status;
    }
  }
}

TEST_P(CodecConformance, APayloadOfAnotherLengthIsRefused) {
  for (const size_t count : {0, 1, 256, 300, 5000}) {
    std::vector<std::byte> payload = Encode(std::vector<float>(count, 0.25f));
    std::vector<float> decoded(count);
    payload.push_back(std::byte{0});
    EXPECT_TRUE(absl::IsDataLoss(codec().Decode(payload, decoded)));
    EXPECT_TRUE(absl::IsDataLoss(codec().DecodeAdd(payload, decoded)));
    if (count == 0) continue;
    payload.erase(payload.end() - 2, payload.end());
    EXPECT_TRUE(absl::IsDataLoss(codec().Decode(payload, decoded)));
    EXPECT_TRUE(absl::IsDataLoss(codec().DecodeAdd(payload, decoded)));
    EXPECT_TRUE(absl::IsDataLoss(codec().Decode({}, decoded)));
  }
}

// Eight more values need at least a byte more.
TEST_P(DenseCodecConformance, APayloadOfAnotherCountIsRefused) {
  for (const size_t count : {0, 1, 256, 300}) {
    const std::vector<std::byte> payload =
        Encode(std::vector<float>(count, 0.25f));
    std::vector<float> more(count + 8);
    EXPECT_TRUE(absl::IsDataLoss(codec().Decode(payload, more)));
    EXPECT_TRUE(absl::IsDataLoss(codec().DecodeAdd(payload, more)));
  }
}

TEST_P(CodecConformance, WhateverIsAcceptedDecodesToFiniteValues) {
  Random random(kSeed);
  const size_t count = 300;
  const std::vector<std::byte> genuine = Encode(std::vector<float>(count, 1));
  int refused = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<std::byte> payload = genuine;
    // A few places, so that some payloads stay valid.
    for (int change = 0; change < 3; ++change) {
      payload[random.Below(payload.size())] =
          static_cast<std::byte>(random.Below(256));
    }
    std::vector<float> decoded(count);
    if (!codec().Decode(payload, decoded).ok()) {
      ++refused;
      continue;
    }
    ASSERT_TRUE(EveryFinite(decoded));
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 2000);
}

TEST_P(CodecConformance, EncodingTwiceGivesTheSameBytes) {
  for (const CodecInput& input : CodecInputs(kSeed)) {
    EXPECT_EQ(Encode(input.values), Encode(input.values)) << input.name;
  }
}

TEST_P(DenseCodecConformance, EncodingWhatWasDecodedLosesNothingMore) {
  for (const CodecInput& input : CodecInputs(kSeed)) {
    const std::vector<float> once =
        Decode(Encode(input.values), input.values.size());
    const std::vector<float> twice = Decode(Encode(once), once.size());
    for (size_t i = 0; i < once.size(); ++i) {
      ASSERT_LE(std::fabs(static_cast<double>(once[i]) - twice[i]),
                std::fabs(static_cast<double>(once[i])) * 0x1p-22)
          << input.name << " at " << i;
    }
  }
}

}  // namespace skerry::compression
