#include "simulator/stand_in.h"

#include "gtest/gtest.h"

namespace skerry::sim {
namespace {

using compression::CodecId;

constexpr uint64_t kGpt2 = 124'439'808;
constexpr uint64_t kSpans = 64;

TEST(StandInTest, ASmallModelStandsForItself) {
  const auto model = StandInFor(100'000, 1, kSpans, "int8_block");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->elements, 100'000);
  EXPECT_EQ(model->scale.elements, 1);
  EXPECT_EQ(model->scale.OfFrame(CodecId::kInt8Block), 1);
}

TEST(StandInTest, ALargeModelHasAsManySpans) {
  const auto model = StandInFor(kGpt2, 2, kSpans, "bf16");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->elements, 2 * kSpans * 4096);
  EXPECT_NEAR(model->scale.elements * static_cast<double>(model->elements),
              kGpt2, 1);
}

TEST(StandInTest, FramesAreChargedWhatRealSpansTake) {
  for (const char* name : {"raw_f32", "bf16", "int8_block", "nf4", "sign1",
                           "sign1_whole", "top_k/16", "chunk_top_k/64"}) {
    const CodecId id = *compression::ParseCodecName(name);
    const auto model = StandInFor(kGpt2, 1, kSpans, name);
    ASSERT_TRUE(model.ok()) << model.status();
    const double charged =
        EncodedBytes(id, model->elements / kSpans) * model->scale.OfFrame(id);
    EXPECT_NEAR(charged * model->scale.elements,
                EncodedBytes(id, kGpt2 / kSpans), 1e-3 * kGpt2 / kSpans)
        << name;
  }
}

TEST(StandInTest, APolicyChargesEveryCodecThatItMayTake) {
  const auto model = StandInFor(kGpt2, 1, kSpans, "adaptive");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(model->scale.frames.contains(CodecId::kInt8Block));
  EXPECT_GT(model->scale.frames.size(), 4);
}

TEST(StandInTest, WhatIsNoCodecIsRefused) {
  EXPECT_TRUE(
      absl::IsInvalidArgument(StandInFor(kGpt2, 1, kSpans, "int9").status()));
}

}  // namespace
}  // namespace skerry::sim
