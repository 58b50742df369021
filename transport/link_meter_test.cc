#include "transport/link_meter.h"

#include "gtest/gtest.h"

namespace skerry::transport {
namespace {

constexpr uint64_t kFrame = 64 * 1024;

// `frames` leave at once over a link; answers come as they arrive there and one
// round trip later. Nothing is answered before `hold` has passed.
Instant Train(LinkMeter& meter, Instant start, int frames, double bytes_per_s,
              absl::Duration round_trip,
              absl::Duration hold = absl::ZeroDuration(),
              uint64_t frame = kFrame) {
  for (int i = 0; i < frames; ++i) meter.OnSent(start);
  Instant now = start;
  for (int i = 1; i <= frames; ++i) {
    const auto sent = absl::Seconds(static_cast<double>(i) *
                                    static_cast<double>(frame) / bytes_per_s);
    now = start + std::max(sent, hold) + round_trip;
    meter.OnArrived(now, frame);
  }
  return now + absl::Seconds(1);
}

TEST(LinkMeterTest, RateAndRoundTripAreThoseOfTheLink) {
  LinkMeter meter;
  EXPECT_FALSE(meter.estimate().has_value());
  Instant now;
  for (int i = 0; i < 5; ++i) {
    now = Train(meter, now, 20, 2e6, absl::Milliseconds(150));
  }
  ASSERT_TRUE(meter.estimate().has_value());
  EXPECT_NEAR(meter.estimate()->bytes_per_s, 2e6, 1e3);
  EXPECT_NEAR(absl::ToDoubleSeconds(meter.estimate()->round_trip), 0.15, 1e-3);
  EXPECT_NEAR(meter.estimate()->rate_spread, 0, 1e-3);
}

TEST(LinkMeterTest, AnswersThatWaverShowAsSpreadOfTheRoundTrip) {
  LinkMeter steady;
  LinkMeter wavers;
  Instant now;
  Instant other;
  for (int i = 0; i < 8; ++i) {
    now = Train(steady, now, 20, 2e6, absl::Milliseconds(100));
    other = Train(wavers, other, 20, 2e6, absl::Milliseconds(100 + 20 * i));
  }
  EXPECT_NEAR(absl::ToDoubleSeconds(steady.estimate()->round_trip_spread), 0,
              1e-3);
  EXPECT_NEAR(absl::ToDoubleSeconds(wavers.estimate()->round_trip), 0.1, 1e-3);
  // The fourth of eight is 60 ms above the first.
  EXPECT_NEAR(absl::ToDoubleSeconds(wavers.estimate()->round_trip_spread), 0.06,
              1e-3);
}

TEST(LinkMeterTest, APeerThatIsLateNowAndThenIsNoUnsteadyLink) {
  LinkMeter meter;
  Instant now;
  for (int i = 0; i < 8; ++i) {
    now =
        Train(meter, now, 20, 2e6, absl::Milliseconds(i % 3 == 2 ? 600 : 100));
  }
  EXPECT_NEAR(absl::ToDoubleSeconds(meter.estimate()->round_trip_spread), 0,
              1e-3);
}

TEST(LinkMeterTest, APeerThatIsNotReadyIsNoSlowLink) {
  LinkMeter meter;
  Train(meter, Instant(), 50, 2e6, absl::Milliseconds(20),
        absl::Milliseconds(400));
  EXPECT_GT(meter.estimate()->bytes_per_s, 2e6);
  EXPECT_LT(meter.estimate()->bytes_per_s, 4e6);
}

TEST(LinkMeterTest, AStepIsFollowedAndShowsAsSpread) {
  LinkMeter meter;
  Instant now;
  for (int i = 0; i < 10; ++i) {
    now = Train(meter, now, 20, 1e7, absl::ZeroDuration());
  }
  now = Train(meter, now, 20, 1e6, absl::ZeroDuration());
  EXPECT_GT(meter.estimate()->rate_spread, 0.3);
  for (int i = 0; i < 20; ++i) {
    now = Train(meter, now, 20, 1e6, absl::ZeroDuration());
  }
  EXPECT_NEAR(meter.estimate()->bytes_per_s, 1e6, 2e4);
  EXPECT_LT(meter.estimate()->rate_spread, 0.25);
}

TEST(LinkMeterTest, ATrainOfOneFrameTeachesNothing) {
  LinkMeter meter;
  Instant now;
  for (int i = 0; i < 100; ++i) {
    now = Train(meter, now, 1, 1e6, absl::ZeroDuration());
  }
  EXPECT_FALSE(meter.estimate().has_value());
}

// Its attempts are given up time after time, but frames of each still arrive.
TEST(LinkMeterTest, ALinkThatIsNeverIdleIsLookedAtInPieces) {
  LinkMeter meter;
  Instant now = Train(meter, Instant(), 20, 1e7, absl::ZeroDuration());
  for (int i = 0; i < 20; ++i) meter.OnSent(now);
  for (int i = 1; i <= 12; ++i) {
    meter.OnSent(now);
    meter.OnArrived(now + absl::Seconds(i * static_cast<double>(kFrame) / 1e5),
                    kFrame);
  }
  ASSERT_TRUE(meter.estimate().has_value());
  EXPECT_NEAR(meter.estimate()->bytes_per_s, 1e5, 1e4);
}

TEST(LinkMeterTest, WhatArrivedBeforeTheStreamWasLostCounts) {
  LinkMeter meter;
  Instant now;
  for (int i = 0; i < 20; ++i) meter.OnSent(now);
  for (int i = 1; i <= 12; ++i) {
    meter.OnArrived(now + absl::Seconds(i * static_cast<double>(kFrame) / 1e5),
                    kFrame);
  }
  for (int i = 0; i < 8; ++i) meter.OnLost();
  ASSERT_TRUE(meter.estimate().has_value());
  EXPECT_NEAR(meter.estimate()->bytes_per_s, 1e5, 1e2);
}

TEST(LinkMeterTest, ALinkThatWasAwayIsAsFastAsBeforeAfterFourTrains) {
  LinkMeter meter;
  Instant now = Train(meter, Instant(), 20, 1e6, absl::ZeroDuration());
  for (int i = 0; i < 6; ++i) meter.OnSent(now);
  for (int i = 1; i <= 4; ++i) {
    meter.OnArrived(now + absl::Seconds(i * static_cast<double>(kFrame) / 1e6),
                    kFrame);
  }
  now = now + absl::Minutes(1);
  meter.OnArrived(now, kFrame);
  meter.OnArrived(now, kFrame);
  EXPECT_LT(meter.estimate()->bytes_per_s, 1e5);
  for (int i = 0; i < 4; ++i) {
    now = Train(meter, now, 20, 1e6, absl::ZeroDuration());
  }
  EXPECT_GT(meter.estimate()->bytes_per_s, 7e5);
}

TEST(LinkMeterTest, LostFramesAloneTeachNothing) {
  LinkMeter meter;
  for (int i = 0; i < 50; ++i) meter.OnSent(Instant());
  for (int i = 0; i < 50; ++i) meter.OnLost();
  EXPECT_FALSE(meter.estimate().has_value());
}

// A small model that has come to a very small codec: frames of 200 bytes.
TEST(LinkMeterTest, ManyShortTrainsShowALinkThatRecovers) {
  LinkMeter meter;
  Instant now;
  for (int i = 0; i < 40; ++i) {
    now = Train(meter, now, 8, 1e4, absl::Milliseconds(20),
                absl::ZeroDuration(), 200);
  }
  ASSERT_TRUE(meter.estimate().has_value());
  EXPECT_NEAR(meter.estimate()->bytes_per_s, 1e4, 1e2);
  for (int i = 0; i < 120; ++i) {
    now = Train(meter, now, 8, 1e6, absl::Milliseconds(20),
                absl::ZeroDuration(), 200);
  }
  EXPECT_GT(meter.estimate()->bytes_per_s, 8e5);
  EXPECT_NEAR(absl::ToDoubleSeconds(meter.estimate()->round_trip), 0.02, 5e-3);
}

}  // namespace
}  // namespace skerry::transport
