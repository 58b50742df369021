#include "compression/top_k/top_k.h"

#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "compression/testing/reference_sparse.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

constexpr uint64_t kSeed = 77;
using Values = std::span<const float>;
using Payload = std::vector<std::byte>;

// There are ties by the hundred, so who is first decides.
TEST(TopKTest, OfEqualMagnitudesTheFirstAreSent) {
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

TEST(TopKTest, AnIndexBeyondTheSliceOrACountTooLargeIsRefused) {
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

TEST(TopKTest, BitsOtherThanOneForEachThatIsSentAreRefused) {
  EXPECT_TRUE(AreTwoOf(10, {2, 0, 0, 0, 0x41, 0}));
  EXPECT_TRUE(AreTwoOf(10, {2, 0, 0, 0, 0x80, 0x02}));
  EXPECT_FALSE(AreTwoOf(10, {2, 0, 0, 0, 0x01, 0}));
  EXPECT_FALSE(AreTwoOf(10, {2, 0, 0, 0, 0x07, 0}));
  EXPECT_FALSE(AreTwoOf(10, {2, 0, 0, 0, 0x01, 0x04}));  // place 10 of 10
  EXPECT_FALSE(AreTwoOf(10, {2, 0, 0, 0, 0x41}));
  EXPECT_FALSE(AreTwoOf(10, {2, 0, 0, 0, 0x41, 0, 0}));
  EXPECT_FALSE(AreTwoOf(10, {3, 0, 0, 0, 0x07, 0}));
}

TEST(TopKTest, AtLeastOneOfAnyIsKept) {
  EXPECT_EQ(KeptElements(10, 0.001), 1u);
  EXPECT_EQ(KeptElements(10, 0.11), 2u);
  EXPECT_EQ(KeptElements(10, 1.0), 10u);
  EXPECT_EQ(KeptElements(0, 1.0), 0u);
}

TEST(TopKTest, OptionsOutOfTheirDomainAreRefused) {
  for (const double density : {0.0, -1.0, 1.5, std::nan("")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        MakeTopK({density, CodecId::kRawF32}).status()));
  }
  EXPECT_FALSE(MakeTopK({0.5, CodecId::kTopK}).ok());
}

// Reading the memory of this slice would crash the test.
TEST(TopKTest, MoreThanAPayloadCanCountIsRefusedUnread) {
  constexpr size_t kElements = size_t{1} << 32;
  void* const memory = mmap(nullptr, kElements * sizeof(float), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const Values values(static_cast<const float*>(memory), kElements);
  Payload payload;
  EXPECT_TRUE(absl::IsInvalidArgument(
      (*MakeTopK({1.0, CodecId::kSign1}))->Encode(values, payload)));
  munmap(memory, kElements * sizeof(float));
}

// The slice is large enough for the selection to begin with a sample.
TEST(TopKTest, LargeSlicesAreSelectedAsSmallOnesAre) {
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
