#include "worker/core/link_meter.h"

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

constexpr uint64_t kFrame = 64 * 1024;

// `frames` leave at once over a link; answers come as they arrive there and one
// round trip later. The peer takes nothing before `hold` has passed.
Instant Train(LinkMeter& meter, Instant start, int frames, double bytes_per_s,
              absl::Duration round_trip,
              absl::Duration hold = absl::ZeroDuration(), bool taken = true) {
  for (int i = 0; i < frames; ++i) meter.OnSent(start, kFrame);
  Instant now = start;
  for (int i = 1; i <= frames; ++i) {
    const auto sent =
        absl::Seconds(static_cast<double>(i * kFrame) / bytes_per_s);
    now = start + std::max(sent, hold) + round_trip;
    meter.OnAnswered(now, kFrame, taken);
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

TEST(LinkMeterTest, ShortTrainsAndThoseGivenUpTeachNothing) {
  LinkMeter meter;
  Instant now = Train(meter, Instant(), 1, 1e6, absl::ZeroDuration());
  now = Train(meter, now, 20, 1e6, absl::ZeroDuration(), absl::ZeroDuration(),
              /*taken=*/false);
  EXPECT_FALSE(meter.estimate().has_value());
  Train(meter, now, 20, 1e6, absl::ZeroDuration());
  EXPECT_TRUE(meter.estimate().has_value());
}

}  // namespace
}  // namespace skerry::worker
