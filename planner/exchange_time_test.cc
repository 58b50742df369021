#include "planner/exchange_time.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::planner {
namespace {

ExchangeShape Random(uint64_t seed, int hops) {
  skerry::Random random(seed);
  ExchangeShape shape;
  shape.hops = hops;
  const size_t count = 2 + random.Below(4);
  for (size_t m = 0; m < count; ++m) {
    ExchangeMember member;
    member.replica = ReplicaId(m + 1);
    member.link = {1e6 * (1 + random.Below(100)), 1e6 * (1 + random.Below(100)),
                   0.0, absl::Milliseconds(random.Below(200)),
                   absl::ZeroDuration()};
    member.owned_elements = hops == 1 ? 0 : random.Below(1000000);
    member.codec_speeds = {{0.5 + random.Uniform(), 0.5 + random.Uniform()}};
    shape.elements += member.owned_elements;
    shape.members.push_back(member);
  }
  if (hops == 1) shape.elements = 1000000;
  return shape;
}

CodecCost RandomCost(skerry::Random& random) {
  return {0.1 + 4 * random.Uniform(), 1e8 * (1 + random.Below(20)),
          1e8 * (1 + random.Below(20))};
}

// When the last member has decoded the last of a hop, with each member's own
// codec: what leaves i in it for j is `elements(i, j)`. A receiver's link and
// its decoder take one sender after the other, as they come.
template <typename Elements>
double HopInTurns(const ExchangeShape& shape,
                  const std::vector<CodecCost>& costs, Elements elements,
                  const std::vector<double>& encoded) {
  double end = 0.0;
  const auto& members = shape.members;
  for (size_t j = 0; j < members.size(); ++j) {
    // By the moment at which they begin to send.
    std::vector<std::pair<double, size_t>> senders;
    for (size_t i = 0; i < members.size(); ++i) {
      if (i == j || elements(i, j) == 0.0) continue;
      senders.emplace_back(encoded[i] / (costs[i].encode_elements_per_s *
                                         members[i].codec_speeds[0].encode),
                           i);
    }
    std::sort(senders.begin(), senders.end());
    double link = 0.0;
    std::vector<std::pair<double, size_t>> arrivals;
    for (const auto& [start, i] : senders) {
      double sent = 0.0;
      for (size_t k = 0; k < members.size(); ++k) {
        if (k != i) sent += elements(i, k) * costs[i].bytes_per_element;
      }
      link = std::max(link, start) + elements(i, j) *
                                         costs[i].bytes_per_element /
                                         members[j].link.down_bytes_per_s;
      const double delay = absl::ToDoubleSeconds(
          std::max(members[i].link.round_trip, members[j].link.round_trip) / 2);
      arrivals.emplace_back(
          std::max(link, start + sent / members[i].link.up_bytes_per_s) + delay,
          i);
    }
    std::sort(arrivals.begin(), arrivals.end());
    double decoder = 0.0;
    for (const auto& [at, i] : arrivals) {
      decoder = std::max(decoder, at) +
                elements(i, j) / (costs[i].decode_elements_per_s *
                                  members[j].codec_speeds[0].decode);
    }
    end = std::max(end, decoder);
  }
  return end;
}

TEST(ExchangeTimeTest, AnExchangeOfManyCodecsEndsWithItsSlowestMember) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    for (const int hops : {1, 2}) {
      const ExchangeShape shape = Random(seed, hops);
      ASSERT_TRUE(ValidateShape(shape).ok()) << ValidateShape(shape);
      const size_t count = shape.members.size();
      skerry::Random random(seed);
      std::vector<CodecCost> costs;
      std::vector<double> contributed;
      std::vector<double> owned;
      double first = 0.0;
      double second = 0.0;
      for (size_t m = 0; m < count; ++m) {
        costs.push_back(RandomCost(random));
        owned.push_back(static_cast<double>(shape.members[m].owned_elements));
        contributed.push_back(static_cast<double>(shape.elements) - owned[m]);
        const HopSeconds times = TimesOf(shape, m, 0, costs[m]);
        first = std::max(first, times.first);
        second = std::max(second, times.second);
      }
      const auto to_owner = [&](size_t, size_t j) {
        return hops == 1 ? static_cast<double>(shape.elements) : owned[j];
      };
      const auto to_all = [&](size_t i, size_t) { return owned[i]; };
      EXPECT_LE(HopInTurns(shape, costs, to_owner, contributed), 1.15 * first);
      EXPECT_LE(HopInTurns(shape, costs, to_all, owned), 1.15 * second);
    }
  }
}

TEST(ExchangeTimeTest, EqualMembersTakeWhatCountingBytesSays) {
  ExchangeShape shape;
  shape.elements = 4000000;
  for (uint64_t m = 1; m <= 4; ++m) {
    ExchangeMember member;
    member.replica = ReplicaId(m);
    member.link.up_bytes_per_s = member.link.down_bytes_per_s = 1e6;
    member.link.round_trip = absl::Milliseconds(100);
    member.owned_elements = 1000000;
    shape.members.push_back(member);
  }
  const HopSeconds times = TimesOf(shape, 2, 0, {1.0, 1e12, 1e12});
  EXPECT_NEAR(times.first, 3.0 + 0.05, 1e-3);
  EXPECT_NEAR(times.second, 3.0 + 0.05, 1e-3);
}

TEST(ExchangeTimeTest, LinkTimeIsThatOfTheBusiestLink) {
  ExchangeShape shape;
  shape.elements = 100;
  for (const double rate : {100.0, 50.0, 20.0}) {
    ExchangeMember member;
    member.link.up_bytes_per_s = rate;
    member.link.down_bytes_per_s = 2 * rate;
    member.link.round_trip = absl::Seconds(1);
    shape.members.push_back(member);
  }
  const std::vector<uint64_t> spans = {60, 40};
  SetOwners(spans, std::vector<uint32_t>{0, 1}, shape);
  EXPECT_DOUBLE_EQ(LinkSeconds(shape, 0, 2.0), 2 * (100 + 60) / 100.0);
  EXPECT_DOUBLE_EQ(LinkSeconds(shape, 1, 2.0), 2 * (100 + 40) / 50.0);
  EXPECT_DOUBLE_EQ(LinkSeconds(shape, 2, 2.0), 2 * 100 / 20.0);
  // Two hops, half a round trip each.
  const std::vector<double> bytes = {2, 2, 2};
  EXPECT_EQ(LinkTime(shape, bytes), absl::Seconds(10 + 1));
  const std::vector<double> smaller = {2, 2, 1};
  EXPECT_EQ(LinkTime(shape, smaller), absl::Seconds(5.6 + 1));
  shape.hops = 1;
  EXPECT_DOUBLE_EQ(LinkSeconds(shape, 2, 2.0), 2 * 2 * 100 / 20.0);
  EXPECT_EQ(LinkTime(shape, bytes), absl::Seconds(20 + 0.5));
}

TEST(ExchangeTimeTest, SpreadMakesALinkCountForLess) {
  ExchangeShape shape = Random(7, 2);
  const double calm = TimesOf(shape, 0, 0, {1.0, 1e9, 1e9}).first;
  for (ExchangeMember& member : shape.members) {
    member.link.rate_spread = 0.5;
    member.link.round_trip_spread = absl::Milliseconds(100);
  }
  EXPECT_GT(TimesOf(shape, 0, 0, {1.0, 1e9, 1e9}).first, 1.3 * calm);
}

TEST(ExchangeTimeTest, AMachinesSpeedCountsForItsOwnCodecAlone) {
  ExchangeShape shape = Random(5, 2);
  for (ExchangeMember& member : shape.members) member.codec_speeds.clear();
  const CodecCost cost = {1e-6, 1e6, 1e6};  // links cost nothing beside it
  const auto all = [&](size_t codec) {
    const HopSeconds times = TimesOf(shape, 0, codec, cost);
    return times.first + times.second;
  };
  const double before = all(1);
  shape.members[0].codec_speeds = {{}, {0.5, 1.0}};
  EXPECT_NEAR(all(1) - before,
              static_cast<double>(shape.elements) / cost.encode_elements_per_s,
              1e-6 * before);
  EXPECT_EQ(all(0), before);
  EXPECT_EQ(all(2), before);
}

TEST(ExchangeTimeTest, ALoneMemberTakesNoTime) {
  ExchangeShape shape = Random(1, 2);
  shape.members.resize(1);
  shape.members[0].owned_elements = shape.elements;
  const HopSeconds times = TimesOf(shape, 0, 0, {1.0, 1e9, 1e9});
  EXPECT_EQ(times.first + times.second, 0.0);
  EXPECT_EQ(LinkTime(shape, std::vector<double>{1.0}), absl::ZeroDuration());
}

TEST(ExchangeTimeTest, FactsOutOfTheirDomainAreInvalid) {
  const ExchangeShape good = Random(3, 2);
  ExchangeShape bad = good;
  bad.members[0].link.up_bytes_per_s = 0.0;
  EXPECT_FALSE(ValidateShape(bad).ok());
  bad = good;
  bad.members[1].link.round_trip = -absl::Seconds(1);
  EXPECT_FALSE(ValidateShape(bad).ok());
  bad = good;
  bad.members[1].codec_speeds = {{1.0, 1.0}, {1.0, 0.0}};
  EXPECT_FALSE(ValidateShape(bad).ok());
  bad = good;
  bad.elements += 1;
  EXPECT_FALSE(ValidateShape(bad).ok());
  bad = good;
  bad.members[0].owned_elements = bad.elements + 1;
  EXPECT_FALSE(ValidateShape(bad).ok());
  bad = good;
  bad.members.clear();
  EXPECT_FALSE(ValidateShape(bad).ok());
}

}  // namespace
}  // namespace skerry::planner
