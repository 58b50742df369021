#include "worker/daemon/codec_speeds.h"

#include <set>

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

TEST(CodecSpeedsTest, EveryCodecThatAJobCanNameIsMeasured) {
  double now = 5;
  const auto speeds = MeasureCodecs([&] { return now += 0.25; }, 1e9);
  std::set<compression::CodecId> measured;
  for (const CodecSpeed& speed : speeds) {
    measured.insert(speed.codec);
    EXPECT_EQ(speed.encode_elements_per_s, (1 << 18) / 0.25);
    EXPECT_EQ(speed.decode_elements_per_s, (1 << 18) / 0.25);
  }
  EXPECT_EQ(measured.size(), speeds.size());
  for (int number = 0; number < 256; ++number) {
    const auto id = static_cast<compression::CodecId>(number);
    EXPECT_EQ(compression::FindCodec(id).ok(), measured.contains(id)) << number;
  }
}

TEST(CodecSpeedsTest, TheBestTurnCounts) {
  // Three turns of three looks at the clock: the second encodes fastest, the
  // third decodes fastest.
  const double steps[] = {0, 0, 4, 4, 0, 1, 4, 0, 4, 2};
  size_t look = 0;
  double now = 0;
  const auto speeds =
      MeasureCodecs([&] { return now += look < 10 ? steps[look++] : 100; }, 50);
  ASSERT_EQ(speeds.size(), 1u);
  EXPECT_EQ(speeds[0].encode_elements_per_s, 1 << 18);
  EXPECT_EQ(speeds[0].decode_elements_per_s, (1 << 18) / 2.0);
}

TEST(CodecSpeedsTest, WhatTheBudgetDoesNotReachIsNotThere) {
  double now = 0;
  const auto speeds = MeasureCodecs([&] { return now += 1; }, 20);
  EXPECT_EQ(speeds.size(), 2u);
}

}  // namespace
}  // namespace skerry::worker
