#include "planner/measured_links.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace skerry::planner {
namespace {

// rates[from][to]; 0 where nobody has measured.
std::vector<PairRate> Pairs(const std::vector<std::vector<double>>& rates) {
  std::vector<PairRate> pairs;
  for (size_t from = 0; from < rates.size(); ++from) {
    for (size_t to = 0; to < rates.size(); ++to) {
      if (rates[from][to] > 0) pairs.push_back({from, to, rates[from][to]});
    }
  }
  return pairs;
}

std::vector<double> SlowerWays(const std::vector<std::vector<double>>& rates) {
  const auto links = LinksOfMembers(rates.size(), Pairs(rates));
  std::vector<double> slower;
  for (const LinkFacts& link : *links) {
    slower.push_back(std::min(link.up_bytes_per_s, link.down_bytes_per_s));
  }
  return slower;
}

using Slower = std::vector<double>;

TEST(MeasuredLinksTest, NothingIsKnownWhileNothingIsMeasured) {
  EXPECT_FALSE(LinksOfMembers(3, {}).has_value());
}

// What reaches the member with the widest way out comes from others' narrow
// ones, and says nothing of its way in.
TEST(MeasuredLinksTest, WaysOutThatLimitAreNotTakenForWaysIn) {
  EXPECT_EQ(
      SlowerWays(
          {{0, 67, 67, 67}, {33, 0, 33, 33}, {17, 17, 0, 17}, {17, 17, 17, 0}}),
      (Slower{201, 99, 51, 51}));
}

TEST(MeasuredLinksTest, WaysInThatLimitAreNotTakenForWaysOut) {
  EXPECT_EQ(
      SlowerWays(
          {{0, 33, 17, 17}, {67, 0, 17, 17}, {67, 33, 0, 17}, {67, 33, 17, 0}}),
      (Slower{201, 99, 51, 51}));
}

TEST(MeasuredLinksTest, LinksThatAreAlikeBothWaysAreSums) {
  EXPECT_EQ(
      SlowerWays(
          {{0, 66, 17, 17}, {66, 0, 17, 17}, {17, 17, 0, 17}, {17, 17, 17, 0}}),
      (Slower{100, 100, 51, 51}));
}

// Somebody's way limits a transfer: of two members, the sender's.
TEST(MeasuredLinksTest, TwoMembersHaveTheirWaysOut) {
  const auto links = *LinksOfMembers(2, Pairs({{0, 100}, {20, 0}}));
  EXPECT_EQ(links[0].up_bytes_per_s, 100);
  EXPECT_EQ(links[1].up_bytes_per_s, 20);
  EXPECT_EQ(links[0].down_bytes_per_s, 100);
  EXPECT_EQ(links[1].down_bytes_per_s, 100);
}

TEST(MeasuredLinksTest, RatesOfOnePairAddUp) {
  std::vector<PairRate> pairs = Pairs({{0, 40}, {20, 0}});
  pairs.push_back({0, 1, 60});
  EXPECT_EQ((*LinksOfMembers(2, pairs))[0].up_bytes_per_s, 100);
}

TEST(MeasuredLinksTest, TheUnmeasuredCountsAsSlowAsTheSlowest) {
  EXPECT_EQ(SlowerWays({{0, 30, 0}, {10, 0, 0}, {0, 0, 0}}),
            (Slower{30, 10, 10}));
}

TEST(MeasuredLinksTest, DelaysAndSpreadsAreTheWorstOfALink) {
  const std::vector<PairRate> pairs = {
      {0, 1, 10, 0.1, absl::Milliseconds(20), absl::Milliseconds(1)},
      {1, 2, 10, 0.3, absl::Milliseconds(10), absl::Milliseconds(5)}};
  const auto links = *LinksOfMembers(3, pairs);
  EXPECT_EQ(links[0].rate_spread, 0.1);
  EXPECT_EQ(links[1].rate_spread, 0.3);
  EXPECT_EQ(links[1].round_trip, absl::Milliseconds(20));
  EXPECT_EQ(links[1].round_trip_spread, absl::Milliseconds(5));
  EXPECT_EQ(links[2].round_trip, absl::Milliseconds(10));
}

}  // namespace
}  // namespace skerry::planner
