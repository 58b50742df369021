#include "planner/owner_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "planner/spans.h"

namespace skerry::planner {
namespace {

ExchangeMember Member(double up, double down) {
  ExchangeMember member;
  member.link.up_bytes_per_s = up;
  member.link.down_bytes_per_s = down;
  return member;
}

ExchangeShape ShapeOf(uint64_t elements, std::vector<ExchangeMember> members) {
  ExchangeShape shape;
  shape.elements = elements;
  shape.members = std::move(members);
  for (size_t m = 0; m < shape.members.size(); ++m) {
    shape.members[m].replica = ReplicaId(m + 1);
  }
  return shape;
}

// Members whose links have one rate both ways.
ExchangeShape Alike(uint64_t elements, const std::vector<double>& rates) {
  std::vector<ExchangeMember> members;
  for (const double rate : rates) members.push_back(Member(rate, rate));
  return ShapeOf(elements, std::move(members));
}

// Bytes through the busier direction, counted transfer by transfer.
double MemberSeconds(double m, const std::vector<double>& shares, size_t i,
                     const ExchangeMember& member) {
  double out = 0.0;
  double in = 0.0;
  for (size_t j = 0; j < shares.size(); ++j) {
    if (j == i) continue;
    out += m * shares[j] + m * shares[i];  // contribution to j, result to j
    in += m * shares[j] + m * shares[i];
  }
  return std::max(out / member.link.up_bytes_per_s,
                  in / member.link.down_bytes_per_s);
}

TEST(OwnerSharesTest, EqualLinksShareEqually) {
  const auto result = ComputeOwnerShares(Alike(100, {100, 100, 100}), 3.0);
  ASSERT_TRUE(result.ok());
  for (const double share : result->shares) EXPECT_NEAR(share, 1.0 / 3, 1e-12);
  EXPECT_NEAR(result->seconds, 4.0, 1e-12);  // 2 (G-1)/G * 3 s
}

// Against a search over a fine grid of all share vectors of three and four.
TEST(OwnerSharesTest, NoSharesAreFasterThanTheFormula) {
  Random random(3);
  for (int trial = 0; trial < 40; ++trial) {
    const size_t group = 3 + trial % 2;
    std::vector<ExchangeMember> members;
    for (size_t i = 0; i < group; ++i) {
      members.push_back(
          Member(1.0 + 20.0 * random.Uniform(), 1.0 + 20.0 * random.Uniform()));
    }
    const auto result = ComputeOwnerShares(ShapeOf(100, members), 1.0);
    ASSERT_TRUE(result.ok());
    const auto& shares = result->shares;
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0, 1e-9);
    double seconds = 0.0;
    for (size_t i = 0; i < group; ++i) {
      EXPECT_GE(shares[i], 0.0);
      seconds = std::max(seconds, MemberSeconds(100.0, shares, i, members[i]));
    }
    EXPECT_NEAR(seconds, result->seconds, 1e-9 * seconds);
    constexpr int kGrid = 24;
    double best = 1e30;
    for (int a = 0; a <= kGrid; ++a) {
      for (int b = 0; a + b <= kGrid; ++b) {
        for (int c = 0; a + b + c <= kGrid; ++c) {
          if (group == 3 && a + b + c != kGrid) continue;
          std::vector<double> s = {a * 1.0 / kGrid, b * 1.0 / kGrid,
                                   c * 1.0 / kGrid};
          if (group == 4) s.push_back((kGrid - a - b - c) * 1.0 / kGrid);
          double t = 0.0;
          for (size_t i = 0; i < group; ++i) {
            t = std::max(t, MemberSeconds(100.0, s, i, members[i]));
          }
          best = std::min(best, t);
        }
      }
    }
    EXPECT_LE(result->seconds, best * (1 + 1e-9));
  }
}

TEST(OwnerSharesTest, AMemberBelowTheFloorOwnsNothingAndIsNamed) {
  const auto result = ComputeOwnerShares(Alike(100, {100, 1, 100}), 1.0);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->shares[1], 0.0);
  EXPECT_NEAR(result->shares[0], 0.5, 1e-12);
  EXPECT_NEAR(result->seconds, 100.0, 1e-9);
  EXPECT_NE(result->reason.find("replica 2"), std::string::npos);
}

TEST(OwnerSharesTest, ANoisyLinkCountsForLess) {
  ExchangeShape shape = Alike(100, {100, 100, 100});
  shape.members[2].link.rate_spread = 0.3;
  const auto result = ComputeOwnerShares(shape, 1.0);
  ASSERT_TRUE(result.ok());
  EXPECT_LT(result->shares[2], result->shares[0]);
}

TEST(OwnerSharesTest, WhatHasNoRateOrNoSharesIsRefused) {
  const std::vector<uint64_t> spans = {50, 50};
  EXPECT_TRUE(absl::IsInvalidArgument(
      ComputeOwnerShares(Alike(100, {1, 1}), 1.0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      ComputeOwnerShares(Alike(100, {1, 0, 1}), 1.0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      ComputeOwnerShares(Alike(100, {1, 1, 1}), 0.0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      ComputeOwnerShares(Alike(0, {1, 1, 1}), 1.0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      AssignOwners(Alike(101, {1, 1, 1}), spans, 1.0).status()));
}

// All assignments of a few equal spans to three members.
TEST(OwnerAssignmentTest, EqualSpansAreAssignedAsWellAsBySearch) {
  Random random(11);
  const std::vector<uint64_t> spans(7, 64);
  for (int trial = 0; trial < 30; ++trial) {
    const ExchangeShape shape =
        Alike(7 * 64, {1 + 9 * random.Uniform(), 1 + 9 * random.Uniform(),
                       1 + 9 * random.Uniform()});
    const auto result = AssignOwners(shape, spans, 1.0);
    ASSERT_TRUE(result.ok());
    double best = 1e30;
    for (int code = 0; code < 2187; ++code) {  // 3^7
      std::vector<double> shares(3, 0.0);
      for (int s = 0, rest = code; s < 7; ++s, rest /= 3) {
        shares[rest % 3] += 1.0 / 7;
      }
      double t = 0.0;
      for (size_t i = 0; i < 3; ++i) {
        t = std::max(t, MemberSeconds(7 * 64.0, shares, i, shape.members[i]));
      }
      best = std::min(best, t);
    }
    EXPECT_NEAR(result->seconds, best, 1e-9 * best);
  }
}

TEST(OwnerAssignmentTest, WholeSpansCostAtMostOneSpanMoreThanTheFormula) {
  Random random(12);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<ExchangeMember> members;
    const size_t group = 3 + random.Below(5);
    double slowest_rate = 1e30;
    for (size_t i = 0; i < group; ++i) {
      members.push_back(
          Member(1 + 50 * random.Uniform(), 1 + 50 * random.Uniform()));
      slowest_rate = std::min(slowest_rate, RateOf(members.back().link));
    }
    const auto cut = CutSpans(1 + random.Below(1 << 22));
    std::vector<uint64_t> spans;
    for (const SpanRange& span : *cut) spans.push_back(span.size());
    const ExchangeShape shape = ShapeOf(
        std::accumulate(spans.begin(), spans.end(), uint64_t{0}), members);
    const auto assigned = AssignOwners(shape, spans, 1.016);
    ASSERT_TRUE(assigned.ok());
    ASSERT_EQ(assigned->owner.size(), spans.size());
    const auto ideal = ComputeOwnerShares(shape, 1.016);
    const double one_span = 1.016 * static_cast<double>(spans[0]) *
                            static_cast<double>(group - 2) / slowest_rate;
    EXPECT_GE(assigned->seconds, ideal->seconds * (1 - 1e-9));
    EXPECT_LE(assigned->seconds, ideal->seconds + one_span);
  }
}

}  // namespace
}  // namespace skerry::planner
