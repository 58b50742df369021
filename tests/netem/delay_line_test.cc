#include "tests/netem/delay_line.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

namespace skerry::netem {
namespace {

Instant At(double seconds) { return Instant(absl::Seconds(seconds)); }

// Moves `total` bytes through a line as a relay would that is never late, and
// returns when the last came out and how often it was woken.
std::pair<Instant, int> Transfer(DelayLine& line, uint64_t total,
                                 Instant begin) {
  Instant now = begin;
  uint64_t in = 0;
  uint64_t out = 0;
  int wakes = 0;
  while (out < total) {
    while (in < total && line.Room(now) > 0) {
      const uint64_t n = std::min(total - in, line.Room(now));
      line.Add(n, now);
      in += n;
    }
    const uint64_t due = line.Due(now);
    line.Take(due);
    out += due;
    if (out == total) break;
    std::optional<Instant> next = line.NextDue(now);
    const std::optional<Instant> room = line.NextRoom(now);
    if (in < total && room.has_value() && (!next || *room < *next)) next = room;
    if (!next.has_value() || *next <= now) {
      ADD_FAILURE() << "the line gives no way on";
      break;
    }
    now = *next;
    ++wakes;
  }
  return {now, wakes};
}

TEST(DelayLineTest, ATransferTakesItsBytesByTheRatePlusOneDelay) {
  for (const auto& [mbit, delay_ms] :
       {std::pair(50.0, 20.0), std::pair(200.0, 40.0), std::pair(1.0, 5.0)}) {
    PathOptions options{.delay = absl::Milliseconds(delay_ms)};
    TokenBucket bucket(mbit * 1e6 / 8);
    DelayLine line(options, {&bucket}, 1);
    const uint64_t bytes = 16 << 20;
    const auto [end, wakes] = Transfer(line, bytes, At(100));
    const double expected =
        static_cast<double>(bytes) * 8 / (mbit * 1e6) + delay_ms / 1e3;
    EXPECT_NEAR(absl::ToDoubleSeconds(end - At(100)), expected, 1e-6);
    // Some thousand wakes for any rate, not one a packet.
    EXPECT_LT(wakes, 30000);
  }
}

TEST(DelayLineTest, TheSlowestOfSeveralBucketsDecides) {
  PathOptions options;
  TokenBucket fast(1e7), slow(1e6);
  DelayLine line(options, {&fast, &slow}, 1);
  const auto [end, wakes] = Transfer(line, 1000000, At(0));
  EXPECT_NEAR(absl::ToDoubleSeconds(end - At(0)), 1.0, 1e-6);
}

TEST(DelayLineTest, ConnectionsThatShareABucketShareItsRate) {
  PathOptions options;
  TokenBucket uplink(1e6);
  DelayLine a(options, {&uplink}, 1);
  DelayLine b(options, {&uplink}, 2);
  uint64_t out_a = 0, out_b = 0;
  for (int ms = 0; ms < 1000; ++ms) {
    const Instant now = At(ms / 1e3);
    for (auto [line, out] : {std::pair(&a, &out_a), std::pair(&b, &out_b)}) {
      if (line->Room(now) > 0) line->Add(line->Room(now), now);
      *out += line->Due(now);
      line->Take(line->Due(now));
    }
  }
  EXPECT_NEAR(static_cast<double>(out_a + out_b), 1e6, 5e4);
  EXPECT_NEAR(static_cast<double>(out_a), static_cast<double>(out_b), 5e4);
}

TEST(DelayLineTest, JitterKeepsTheOrderAndItsBounds) {
  PathOptions options{.delay = absl::Milliseconds(50),
                      .jitter = absl::Milliseconds(30)};
  DelayLine line(options, {}, 7);
  Instant last;
  for (int i = 0; i < 1000; ++i) {
    const Instant now = At(10 + i * 0.01);
    line.Add(10, now);
    // The newest chunk is due last of all.
    Instant due = now;
    while (line.NextDue(due).has_value()) due = *line.NextDue(due);
    EXPECT_GE(due, last);
    EXPECT_GE(due - now, options.delay);
    EXPECT_LT(due - now, options.delay + options.jitter);
    last = due;
    line.Take(line.Due(now));
  }
}

TEST(DelayLineTest, StallsComeAtTheirRateAndTakeTheirTime) {
  const char* given = std::getenv("SKERRY_TEST_SEED");
  const uint64_t seed = given == nullptr ? 5 : std::strtoull(given, nullptr, 0);
  const PathOptions options{.stalls_per_mb = 0.5,
                            .stall = absl::Milliseconds(300)};
  const auto seconds = [&](uint64_t seed) {
    TokenBucket bucket(1e6);
    DelayLine line(options, {&bucket}, seed);
    return absl::ToDoubleSeconds(Transfer(line, 200000000, At(0)).first -
                                 At(0));
  };
  // 200 s of bytes and about 100 stalls of 0.3 s; six standard deviations.
  EXPECT_NEAR(seconds(seed), 230.0, 18.0) << "seed " << seed;
  EXPECT_EQ(seconds(seed), seconds(seed)) << "seed " << seed;
  EXPECT_NE(seconds(seed), seconds(seed + 1)) << "seed " << seed;
}

TEST(DelayLineTest, AnApplicationThatDoesNotReadStopsTheSender) {
  PathOptions options;
  TokenBucket bucket(1e9);
  DelayLine line(options, {&bucket}, 1);
  Instant now = At(0);
  int i = 0;
  for (; i < 100000 && line.Room(now) > 0; ++i) {
    line.Add(line.Room(now), now);
    now = now + absl::Seconds(1);
  }
  EXPECT_LT(line.bytes_inside(), uint64_t{64} << 20);
  EXPECT_FALSE(line.NextRoom(now).has_value());
  line.Take(line.Due(now));
  EXPECT_GT(line.Room(now), 0u);
}

}  // namespace
}  // namespace skerry::netem
