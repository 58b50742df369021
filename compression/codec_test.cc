#include "compression/codec.h"

#include "absl/status/status.h"
#include "compression/dense/dense_codec.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

TEST(CodecTest, AnUnknownNumberHasNoCodecAndNoName) {
  EXPECT_TRUE(
      absl::IsUnimplemented(FindCodec(static_cast<CodecId>(63)).status()));
  EXPECT_EQ(CodecName(static_cast<CodecId>(63)), "unknown");
}

TEST(CodecTest, AnUnknownNameIsAnsweredWithTheNamesThatExist) {
  const absl::Status status = ParseCodecName("int4").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(status.message().find("int8_block"), absl::string_view::npos);
}

TEST(CodecTest, OfDenseCodecsOneAndTwoBitsAreCarriedByDefault) {
  for (const NamedCodec& one : DenseCodecs()) {
    EXPECT_EQ(DefaultErrorFeedback(one.id),
              one.id == CodecId::kSign1 || one.id == CodecId::kSign1Whole ||
                  one.id == CodecId::kLloyd2)
        << one.name;
  }
}

// The sizes that link predictions rest on.
TEST(CodecTest, EncodedSizesAreThoseOfTheFormatPage) {
  EXPECT_EQ((*FindCodec(CodecId::kRawF32))->MaxEncodedBytes(4096), 16384u);
  EXPECT_EQ((*FindCodec(CodecId::kBf16))->MaxEncodedBytes(4096), 8192u);
  EXPECT_EQ((*FindCodec(CodecId::kInt8Block))->MaxEncodedBytes(4096), 4160u);
  EXPECT_EQ((*FindCodec(CodecId::kInt8Block))->MaxEncodedBytes(257), 265u);
  EXPECT_EQ((*FindCodec(CodecId::kFp16))->MaxEncodedBytes(4096), 8192u);
  EXPECT_EQ((*FindCodec(CodecId::kSign1))->MaxEncodedBytes(4096), 576u);
  EXPECT_EQ((*FindCodec(CodecId::kSign1))->MaxEncodedBytes(257), 41u);
  EXPECT_EQ((*FindCodec(CodecId::kSign1Whole))->MaxEncodedBytes(4096), 516u);
  EXPECT_EQ((*FindCodec(CodecId::kSign1Whole))->MaxEncodedBytes(0), 0u);
  EXPECT_EQ((*FindCodec(CodecId::kLloyd2))->MaxEncodedBytes(4096), 1088u);
  EXPECT_EQ((*FindCodec(CodecId::kLloyd2))->MaxEncodedBytes(257), 73u);
  for (const CodecId id : {CodecId::kNf4, CodecId::kE3m0}) {
    EXPECT_EQ((*FindCodec(id))->MaxEncodedBytes(4096), 2176u);
    EXPECT_EQ((*FindCodec(id))->MaxEncodedBytes(65), 37u);
  }
  for (const CodecId id : {CodecId::kNf4F32, CodecId::kE3m0F32}) {
    EXPECT_EQ((*FindCodec(id))->MaxEncodedBytes(4096), 2304u);
    EXPECT_EQ((*FindCodec(id))->MaxEncodedBytes(65), 41u);
  }
}

}  // namespace
}  // namespace skerry::compression
