#include "compression/sparse/sparse_codec.h"

#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "compression/sparse/threshold_top_k.h"
#include "compression/testing/reference_sparse.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

constexpr uint64_t kSeed = 77;
using Values = std::span<const float>;
using Payload = std::vector<std::byte>;

// Ties by the hundred, over chunk borders: who is first decides.
TEST(SparseCodecTest, OfEqualMagnitudesTheFirstAreSent) {
  std::vector<float> values(9000);
  Random random(kSeed);
  for (float& value : values) {
    value = static_cast<float>(random.Below(4)) - 1.5f;
  }
  for (const double density : {0.001, 0.03, 0.5}) {
    Payload payload;
    ASSERT_TRUE(
        (*MakeTopK({density, CodecId::kRawF32}))->Encode(values, payload).ok());
    EXPECT_EQ(payload, ReferenceEncodeIndexed(
                           values,
                           ReferenceTopKPlaces(
                               values, KeptElements(values.size(), density)),
                           CodecId::kRawF32));
  }
  for (const size_t kept : {1, 64, 1024}) {
    Payload payload;
    ASSERT_TRUE((*MakeChunkTopK(kept))->Encode(values, payload).ok());
    EXPECT_EQ(payload, ReferenceEncodeChunkTopK(values, kept).payload);
  }
}

// Whether a payload that begins with these bytes and ends with two zeros as
// fp32 is accepted as top_k's of two out of `elements`.
bool AreTwoOf(size_t elements, std::vector<uint8_t> head) {
  const double density = 1.5 / static_cast<double>(elements);
  std::vector<float> decoded(elements);
  Payload payload(head.size());
  std::memcpy(payload.data(), head.data(), head.size());
  payload.resize(head.size() + 8);
  return (*MakeTopK({density, CodecId::kRawF32}))
      ->Decode(payload, decoded)
      .ok();
}

TEST(SparseCodecTest, AnIndexBeyondTheSliceOrACountTooLargeIsRefused) {
  EXPECT_TRUE(AreTwoOf(17, {2, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(AreTwoOf(17, {2, 0, 0, 0, 1, 14}));
  EXPECT_FALSE(AreTwoOf(17, {2, 0, 0, 0, 1, 15}));          // place 17 of 17
  EXPECT_FALSE(AreTwoOf(17, {2, 0, 0, 0, 17, 0}));          // place 17 of 17
  EXPECT_FALSE(AreTwoOf(17, {1, 0, 0, 0, 1, 1}));           // one too few
  EXPECT_FALSE(AreTwoOf(17, {255, 255, 255, 255, 0, 0}));   // far too many
  EXPECT_FALSE(AreTwoOf(17, {2, 0, 0, 0, 0x80, 0x00, 0}));  // a longer zero
  EXPECT_FALSE(AreTwoOf(
      17, {2, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}));
}

TEST(SparseCodecTest, BitsOtherThanOneForEachThatIsSentAreRefused) {
  EXPECT_TRUE(AreTwoOf(10, {2, 0, 0, 0, 0x41, 0}));
  EXPECT_TRUE(AreTwoOf(10, {2, 0, 0, 0, 0x80, 0x02}));
  EXPECT_FALSE(AreTwoOf(10, {2, 0, 0, 0, 0x01, 0}));
  EXPECT_FALSE(AreTwoOf(10, {2, 0, 0, 0, 0x07, 0}));
  EXPECT_FALSE(AreTwoOf(10, {2, 0, 0, 0, 0x01, 0x04}));  // place 10 of 10
  EXPECT_FALSE(AreTwoOf(10, {2, 0, 0, 0, 0x41}));
  EXPECT_FALSE(AreTwoOf(10, {2, 0, 0, 0, 0x41, 0, 0}));
  EXPECT_FALSE(AreTwoOf(10, {3, 0, 0, 0, 0x07, 0}));
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
  EXPECT_EQ((*MakeChunkTopK(64))->MaxEncodedBytes(4096 + 1000),
            16u + 112u + 112u);
  // Bits instead of places where these are more.
  EXPECT_EQ((*MakeChunkTopK(64))->MaxEncodedBytes(4096 + 3),
            16u + 112u + 1u + 1u);
  EXPECT_EQ((*MakeChunkTopK(341))->MaxEncodedBytes(4096), 16u + 512u + 86u);
  EXPECT_EQ((*MakeChunkTopK(1024))->MaxEncodedBytes(4096), 16u + 512u + 256u);
  EXPECT_EQ((*MakeChunkTopK(1024))->MaxEncodedBytes(17 * 4096),
            2 * 16u + 17 * (512u + 256u));
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

// Reading the memory of this slice would crash the test.
TEST(SparseCodecTest, MoreThanAPayloadCanCountIsRefusedUnread) {
  constexpr size_t kElements = size_t{1} << 32;
  void* const memory = mmap(nullptr, kElements * sizeof(float), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const Values values(static_cast<const float*>(memory), kElements);
  const auto no_threshold = [](Values, size_t, Workspace&) {
    return Threshold{};
  };
  Payload payload;
  const SparseOptions all = {1.0, CodecId::kSign1};
  const SparseOptions half = {0.5, CodecId::kSign1};
  for (const auto& codec :
       {*MakeTopK(all), *MakeThresholdTopK(all, no_threshold),
        *MakeThresholdTopK(half, no_threshold)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(codec->Encode(values, payload)));
  }
  munmap(memory, kElements * sizeof(float));
}

// The slice is large enough for the selection to begin with a sample.
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
