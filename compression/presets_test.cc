#include "compression/presets.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "base/random.h"
#include "compression/codec.h"
#include "compression/testing/backward_executor.h"
#include "compression/workspace.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

// A ratio of two uniforms has a heavy tail.
std::vector<float> Values(size_t count) {
  Random random(11);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>((random.Uniform() - 0.5) /
                               (0.05 + random.Uniform()));
  }
  return values;
}

TEST(SparsePresetsTest, AFrameAndAJobCanNameEachOfThem) {
  ASSERT_EQ(SparsePresets().size(), 21u);
  for (const NamedCodec& preset : SparsePresets()) {
    ASSERT_TRUE(FindCodec(preset.id).ok()) << preset.name;
    EXPECT_EQ(*FindCodec(preset.id), preset.codec);
    EXPECT_EQ(preset.codec->id(), preset.id);
    EXPECT_EQ(*ParseCodecName(preset.name), preset.id);
    EXPECT_EQ(CodecName(preset.id), preset.name);
    EXPECT_TRUE(IsSparse(preset.id));
    EXPECT_EQ(DefaultErrorFeedback(preset.id), 1.0);
  }
  EXPECT_EQ(*ParseCodecName("top_k/4"), CodecId::kTopKIn4);
  EXPECT_EQ(static_cast<int>(*ParseCodecName("top_k/256")), 78);
  EXPECT_EQ(static_cast<int>(*ParseCodecName("chunk_top_k/64")), 84);
  EXPECT_EQ(static_cast<int>(*ParseCodecName("threshold_top_k/128")), 93);
  EXPECT_FALSE(ParseCodecName("top_k").ok());
  EXPECT_FALSE(FindCodec(CodecId::kTopK).ok());
}

TEST(SparsePresetsTest, TheySendAboutOneValueInNAndNoMoreBytesThanTheySay) {
  const std::vector<float> values = Values(100000);
  for (const NamedCodec& preset : SparsePresets()) {
    SCOPED_TRACE(preset.name);
    const std::string name(preset.name);
    const double ratio = std::stod(name.substr(name.find('/') + 1));
    std::vector<std::byte> payload;
    ASSERT_TRUE(preset.codec->Encode(values, payload).ok());
    EXPECT_LE(payload.size(), preset.codec->MaxEncodedBytes(values.size()));
    std::vector<float> decoded(values.size(), 1.0f);
    ASSERT_TRUE(preset.codec->Decode(payload, decoded).ok());
    double sent = 0;
    for (const float value : decoded) sent += value != 0.0f ? 1 : 0;
    const double share = sent * ratio / static_cast<double>(values.size());
    // SIDCo's safeguard promises no more.
    const bool estimated = name.starts_with("threshold");
    EXPECT_GT(share, estimated ? 0.5 : 0.95);
    EXPECT_LT(share, estimated ? 2.0 : 1.05);
  }
}

// Long enough that thresholds are guessed from samples.
TEST(SparsePresetsTest, TheExecutorChangesNoByteOfALongSlice) {
  std::vector<float> values = Values(300001);
  std::fill(values.begin() + 1000, values.begin() + 70000, 0.25f);  // ties
  BackwardExecutor executor(3);
  Workspace in_parts(executor);
  Workspace alone;
  for (const NamedCodec& preset : SparsePresets()) {
    SCOPED_TRACE(preset.name);
    std::vector<std::byte> one;
    std::vector<std::byte> many;
    ASSERT_TRUE(preset.codec->Encode(values, one, alone).ok());
    ASSERT_TRUE(preset.codec->Encode(values, many, in_parts).ok());
    EXPECT_EQ(one, many);
  }
}

TEST(SparsePresetsTest, AnotherRatioDoesNotReadWhatOneWrote) {
  const std::vector<float> values = Values(8192);
  std::vector<float> decoded(values.size());
  for (const char* family : {"top_k/", "chunk_top_k/"}) {
    std::vector<std::byte> payload;
    const Codec& eight =
        **FindCodec(*ParseCodecName(std::string(family) + "8"));
    const Codec& sixteen =
        **FindCodec(*ParseCodecName(std::string(family) + "16"));
    ASSERT_TRUE(eight.Encode(values, payload).ok());
    EXPECT_TRUE(absl::IsDataLoss(sixteen.Decode(payload, decoded)));
  }
}

}  // namespace
}  // namespace skerry::compression
