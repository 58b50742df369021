#include "compression/sparse/sparse_codec.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "compression/testing/codec_inputs.h"
#include "compression/testing/reference_sparse.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace skerry::compression {
namespace {

constexpr uint64_t kSeed = 77;
using Values = std::span<const float>;
using Payload = std::vector<std::byte>;

struct Case {
  std::string name;
  std::unique_ptr<const Codec> codec;
  std::function<Payload(Values)> encode;
  std::function<std::vector<float>(Values)> decoded;
};

void AddTopK(std::vector<Case>& cases, double density, CodecId inner) {
  const auto places = [density](Values values) {
    return ReferenceTopKPlaces(values, KeptElements(values.size(), density));
  };
  cases.push_back({"top_k", *MakeTopK({density, inner}),
                   [=](Values values) {
                     return ReferenceEncodeIndexed(values, places(values),
                                                   inner);
                   },
                   [=](Values values) {
                     return ReferenceSparse(values, places(values), inner);
                   }});
}

void AddRandomK(std::vector<Case>& cases, double density, CodecId inner) {
  const auto places = [density](Values values) {
    return ReferenceRandomKPlaces(values.size(),
                                  KeptElements(values.size(), density), kSeed);
  };
  cases.push_back({"random_k", *MakeRandomK({density, inner}, kSeed),
                   [=](Values values) {
                     return ReferenceEncodeValues(values, places(values),
                                                  inner);
                   },
                   [=](Values values) {
                     return ReferenceSparse(values, places(values), inner);
                   }});
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const double density : {0.001, 0.03, 0.5, 1.0}) {
    AddTopK(cases, density, CodecId::kRawF32);
    AddRandomK(cases, density, CodecId::kRawF32);
  }
  for (const CodecId inner :
       {CodecId::kInt8Block, CodecId::kNf4, CodecId::kSign1, CodecId::kFp16}) {
    AddTopK(cases, 0.1, inner);
    AddRandomK(cases, 0.1, inner);
  }
  for (const size_t kept : {1, 5, 64, 4096}) {
    cases.push_back({"chunk_top_k", *MakeChunkTopK(kept),
                     [kept](Values values) {
                       return ReferenceEncodeChunkTopK(values, kept).payload;
                     },
                     [kept](Values values) {
                       return ReferenceEncodeChunkTopK(values, kept).decoded;
                     }});
  }
  return cases;
}

std::vector<CodecInput> Inputs() {
  std::vector<CodecInput> inputs = CodecInputs(kSeed);
  // Ties by the hundred, over chunk borders.
  std::vector<float> few(9000);
  Random random(kSeed);
  for (float& value : few) {
    value = static_cast<float>(random.Below(4)) - 1.5f;
  }
  inputs.push_back({"few magnitudes", std::move(few)});
  return inputs;
}

bool SameBits(Values a, Values b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

TEST(SparseCodecTest, EverySimdTargetGivesTheBytesOfTheScalarTwin) {
  const std::vector<Case> cases = Cases();
  const int64_t supported = hwy::SupportedTargets();
  for (int64_t rest = supported; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (const Case& test : cases) {
      for (const CodecInput& input : Inputs()) {
        Payload payload = {std::byte{1}};
        ASSERT_TRUE(test.codec->Encode(input.values, payload).ok());
        ASSERT_EQ(payload, test.encode(input.values))
            << test.name << " of " << input.name << ", "
            << hwy::TargetName(rest & -rest);
        ASSERT_LE(payload.size(),
                  test.codec->MaxEncodedBytes(input.values.size()));
        std::vector<float> decoded(input.values.size(), 5.0f);
        ASSERT_TRUE(test.codec->Decode(payload, decoded).ok());
        ASSERT_TRUE(SameBits(decoded, test.decoded(input.values)))
            << test.name << " of " << input.name;
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

TEST(SparseCodecTest, DecodeAddIsDecodeThenAdd) {
  for (const Case& test : Cases()) {
    for (const CodecInput& input : Inputs()) {
      Payload payload;
      ASSERT_TRUE(test.codec->Encode(input.values, payload).ok());
      std::vector<float> decoded(input.values.size());
      ASSERT_TRUE(test.codec->Decode(payload, decoded).ok());
      std::vector<float> sum(input.values.size(), 0.375f);
      ASSERT_TRUE(test.codec->DecodeAdd(payload, sum).ok());
      for (float& value : decoded) value = 0.375f + value;
      ASSERT_TRUE(SameBits(sum, decoded)) << test.name << " " << input.name;
    }
  }
}

TEST(SparseCodecTest, NotANumberAndInfinityAreRefusedEvenWhereNothingIsSent) {
  for (const Case& test : Cases()) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::infinity()}) {
      std::vector<float> values(5000, 0.5f);
      values[4321] = bad;
      Payload payload;
      const absl::Status status = test.codec->Encode(values, payload);
      ASSERT_TRUE(absl::IsInvalidArgument(status)) << status;
      EXPECT_NE(status.message().find("value 4321 of"),
                absl::string_view::npos);
    }
  }
}

// Changed bytes are refused or decode to finite values; another length always
// is refused.
TEST(SparseCodecTest, CorruptPayloadsAreRefusedOrFinite) {
  Random random(kSeed);
  std::vector<float> values(6000);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.5);
  }
  for (const Case& test : Cases()) {
    Payload genuine;
    ASSERT_TRUE(test.codec->Encode(values, genuine).ok());
    std::vector<float> decoded(values.size());
    for (int trial = 0; trial < 300; ++trial) {
      Payload payload = genuine;
      payload[random.Below(std::min<size_t>(payload.size(), 64))] =
          static_cast<std::byte>(random.Below(256));
      payload[random.Below(payload.size())] =
          static_cast<std::byte>(random.Below(256));
      if (!test.codec->Decode(payload, decoded).ok()) continue;
      for (const float value : decoded) ASSERT_TRUE(std::isfinite(value));
    }
    Payload longer = genuine;
    longer.push_back(std::byte{0});
    EXPECT_TRUE(absl::IsDataLoss(test.codec->Decode(longer, decoded)));
    Payload shorter(genuine.begin(), genuine.end() - 1);
    EXPECT_TRUE(absl::IsDataLoss(test.codec->Decode(shorter, decoded)));
    EXPECT_TRUE(absl::IsDataLoss(test.codec->DecodeAdd({}, decoded)));
  }
}

TEST(SparseCodecTest, AnIndexBeyondTheSliceOrACountTooLargeIsRefused) {
  const auto codec = *MakeTopK({0.5, CodecId::kRawF32});
  std::vector<float> decoded(4);
  const auto accepted = [&](std::vector<uint8_t> head) {
    Payload payload(head.size());
    std::memcpy(payload.data(), head.data(), head.size());
    payload.resize(head.size() + 8);  // two zeros as fp32
    return codec->Decode(payload, decoded).ok();
  };
  EXPECT_TRUE(accepted({2, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(accepted({2, 0, 0, 0, 1, 1}));
  EXPECT_FALSE(accepted({2, 0, 0, 0, 1, 2}));           // place 4 of 4
  EXPECT_FALSE(accepted({2, 0, 0, 0, 4, 0}));           // place 4 of 4
  EXPECT_FALSE(accepted({1, 0, 0, 0, 1, 1}));           // one too few
  EXPECT_FALSE(accepted({255, 255, 255, 255, 0, 0}));   // far too many
  EXPECT_FALSE(accepted({2, 0, 0, 0, 0x80, 0x00, 0}));  // a longer zero
  EXPECT_FALSE(accepted(
      {2, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}));
}

double RelativeError(const Codec& codec, Values values) {
  Payload payload;
  EXPECT_TRUE(codec.Encode(values, payload).ok());
  std::vector<float> decoded(values.size());
  EXPECT_TRUE(codec.Decode(payload, decoded).ok());
  double error = 0.0;
  double size = 0.0;
  for (size_t i = 0; i < values.size(); ++i) {
    error += std::pow(static_cast<double>(values[i]) - decoded[i], 2);
    size += std::pow(static_cast<double>(values[i]), 2);
  }
  return error / size;
}

// E|x - C(x)|^2 = (1 - k/n) |x|^2 for random-k, and top-k is never worse.
TEST(SparseCodecTest, RandomKContractsByItsDensityAndTopKByMore) {
  Random random(5);
  std::vector<float> values(1 << 14);
  for (float& value : values) {
    value = static_cast<float>(std::log(1 - random.Uniform()));
  }
  double sum = 0.0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const double error =
        RelativeError(**MakeRandomK({0.125, CodecId::kRawF32}, seed), values);
    EXPECT_LT(RelativeError(**MakeTopK({0.125, CodecId::kRawF32}), values),
              error);
    sum += error;
  }
  EXPECT_NEAR(sum / 50, 0.875, 0.005);
}

TEST(SparseCodecTest, SizesAreThoseOfTheFormatPage) {
  EXPECT_EQ((*MakeChunkTopK(64))->MaxEncodedBytes(4096), 16u + 112u);
  EXPECT_EQ((*MakeChunkTopK(64))->MaxEncodedBytes(4096 + 3),
            16u + 112u + 5u + 1u);
  EXPECT_EQ((*MakeChunkTopK(64))->MaxEncodedBytes(0), 0u);
  EXPECT_EQ((*MakeRandomK({0.01, CodecId::kBf16}, 1))->MaxEncodedBytes(10000),
            200u);
  EXPECT_EQ(KeptElements(10, 0.001), 1u);
  EXPECT_EQ(KeptElements(10, 0.11), 2u);
  EXPECT_EQ(KeptElements(10, 1.0), 10u);
  EXPECT_EQ(KeptElements(0, 1.0), 0u);
}

TEST(SparseCodecTest, OptionsOutOfTheirDomainAreRefused) {
  for (const double density : {0.0, -1.0, 1.5, std::nan("")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        MakeTopK({density, CodecId::kRawF32}).status()));
  }
  EXPECT_FALSE(MakeTopK({0.5, CodecId::kTopK}).ok());
  EXPECT_FALSE(MakeChunkTopK(0).ok());
  EXPECT_FALSE(MakeChunkTopK(4097).ok());
}

// Above the size at which selection turns to histograms.
TEST(SparseCodecTest, LargeSlicesAreSelectedAsSmallOnesAre) {
  Random random(9);
  std::vector<float> values(300000);
  for (float& value : values) {
    value = static_cast<float>(random.Below(1000)) * 0.001f - 0.5f;
  }
  const auto codec = *MakeTopK({0.01, CodecId::kRawF32});
  Payload payload;
  ASSERT_TRUE(codec->Encode(values, payload).ok());
  EXPECT_EQ(payload,
            ReferenceEncodeIndexed(values, ReferenceTopKPlaces(values, 3000),
                                   CodecId::kRawF32));
}

}  // namespace
}  // namespace skerry::compression
