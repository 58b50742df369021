#include "compression/codec.h"

#include "absl/status/status.h"
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

// The sizes that link predictions rest on.
TEST(CodecTest, EncodedSizesAreThoseOfTheFormatPage) {
  EXPECT_EQ((*FindCodec(CodecId::kRawF32))->MaxEncodedBytes(4096), 16384u);
  EXPECT_EQ((*FindCodec(CodecId::kBf16))->MaxEncodedBytes(4096), 8192u);
  EXPECT_EQ((*FindCodec(CodecId::kInt8Block))->MaxEncodedBytes(4096), 4160u);
  EXPECT_EQ((*FindCodec(CodecId::kInt8Block))->MaxEncodedBytes(257), 265u);
}

}  // namespace
}  // namespace skerry::compression
