#include "coordinator/core/rules/encoded_bytes.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using compression::CodecId;

constexpr uint64_t kElements = 1 << 20;

Opened AttemptOf(const std::vector<CodecId>& codecs) {
  Opened opened;
  for (const CodecId codec : codecs) {
    opened.members.emplace_back().codec = codec;
  }
  return opened;
}

TEST(EncodedBytesTest, EachCodecHasItsOwnBytesAParameter) {
  const auto each = [](const char* codec) {
    return EncodedBytes(codec, kElements) / kElements;
  };
  EXPECT_NEAR(each("raw_f32"), 4.0, 0.01);
  EXPECT_NEAR(each("bf16"), 2.0, 0.01);
  EXPECT_NEAR(each("int8_block"), 1.0, 0.05);
  EXPECT_NEAR(each("nf4"), 0.5, 0.05);
}

TEST(EncodedBytesTest, MembersOfDifferentCodecsAreAveraged) {
  const MeanBytes mean = MeanEncodedBytes(
      AttemptOf({CodecId::kRawF32, CodecId::kBf16}), kElements);
  EXPECT_NEAR(mean.contribution / kElements, 3.0, 0.01);
  EXPECT_EQ(mean.result, mean.contribution);
}

TEST(EncodedBytesTest, AResultsOwnCodecCounts) {
  Opened opened = AttemptOf({CodecId::kNf4, CodecId::kNf4});
  for (Member& member : opened.members) member.result_codec = CodecId::kBf16;
  const MeanBytes mean = MeanEncodedBytes(opened, kElements);
  EXPECT_NEAR(mean.contribution / kElements, 0.5, 0.05);
  EXPECT_NEAR(mean.result / kElements, 2.0, 0.01);
}

}  // namespace
}  // namespace skerry::coordinator
