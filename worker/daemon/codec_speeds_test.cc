#include "worker/daemon/codec_speeds.h"

#include <set>

#include "compression/codec.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using protocol::CodecSpeed;

constexpr double kValues = 1 << 20;

size_t CodecCount() {
  size_t count = 0;
  for (int number = 0; number < 256; ++number) {
    const auto id = static_cast<compression::CodecId>(number);
    count += compression::FindCodec(id).ok() ? 1 : 0;
  }
  return count;
}

TEST(CodecSpeedsTest, EveryCodecThatAJobCanNameIsMeasured) {
  double now = 5;
  const auto speeds = MeasureCodecs([&] { return now += 0.25; }, 1e9);
  std::set<std::string> measured;
  for (const CodecSpeed& speed : speeds) {
    measured.insert(speed.codec);
    EXPECT_EQ(speed.encode_elements_per_s, kValues / 0.25);
    EXPECT_EQ(speed.decode_elements_per_s, kValues / 0.25);
  }
  EXPECT_EQ(measured.size(), speeds.size());
  EXPECT_EQ(measured.size(), CodecCount());
}

TEST(CodecSpeedsTest, TheBestTurnCounts) {
  // Seconds that encoding and decoding take in each turn. The second is the
  // best.
  const double encode[] = {4, 1, 2};
  const double decode[] = {4, 2, 8};
  const size_t looks = 3 * CodecCount();  // of a turn
  size_t look = 0;
  double now = 0;
  const auto speeds = MeasureCodecs(
      [&] {
        // The clock is read once at the start, then three times for each codec.
        if (look > 0 && look % 3 == 2) now += encode[(look - 1) / looks];
        if (look > 0 && look % 3 == 0) now += decode[(look - 1) / looks];
        ++look;
        return now;
      },
      1e9);
  ASSERT_EQ(speeds.size(), CodecCount());
  for (const CodecSpeed& speed : speeds) {
    EXPECT_EQ(speed.encode_elements_per_s, kValues);
    EXPECT_EQ(speed.decode_elements_per_s, kValues / 2);
  }
}

TEST(CodecSpeedsTest, WhatTheBudgetDoesNotReachIsNotThere) {
  double now = 0;
  const auto speeds = MeasureCodecs([&] { return now += 1; }, 7);
  EXPECT_EQ(speeds.size(), 3u);
}

TEST(CodecSpeedsTest, AFirstTurnOfAllComesBeforeASecondOfAny) {
  double now = 0;
  const auto speeds = MeasureCodecs([&] { return now += 1; },
                                    3.0 * static_cast<double>(CodecCount()));
  EXPECT_EQ(speeds.size(), CodecCount());
}

}  // namespace
}  // namespace skerry::worker
