#include "planner/owner_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/status/status.h"
#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::planner {
namespace {

std::vector<MemberRate> Members(std::initializer_list<double> rates) {
  std::vector<MemberRate> members;
  for (const double rate : rates) {
    members.push_back({ReplicaId(members.size() + 1), rate, rate});
  }
  return members;
}

std::vector<SpanRange> EqualSpans(size_t count, uint64_t size) {
  std::vector<SpanRange> spans;
  for (size_t s = 0; s < count; ++s)
    spans.push_back({s * size, (s + 1) * size});
  return spans;
}

// Bytes through the busier direction, counted transfer by transfer.
double MemberSeconds(double m, const std::vector<double>& shares, size_t i,
                     const MemberRate& member) {
  double out = 0.0;
  double in = 0.0;
  for (size_t j = 0; j < shares.size(); ++j) {
    if (j == i) continue;
    out += m * shares[j] + m * shares[i];  // contribution to j, result to j
    in += m * shares[j] + m * shares[i];
  }
  return std::max(out / member.up_bytes_per_s, in / member.down_bytes_per_s);
}

TEST(OwnerSharesTest, EqualLinksShareEqually) {
  const auto result = ComputeOwnerShares(300.0, Members({100, 100, 100}));
  ASSERT_TRUE(result.ok());
  for (const double share : result->shares) EXPECT_NEAR(share, 1.0 / 3, 1e-12);
  EXPECT_NEAR(result->seconds, 4.0, 1e-12);  // 2 (G-1)/G * 3 s
}

// Against a search over a fine grid of all share vectors of three and four.
TEST(OwnerSharesTest, NoSharesAreFasterThanTheFormula) {
  Random random(3);
  for (int trial = 0; trial < 40; ++trial) {
    const size_t group = 3 + trial % 2;
    std::vector<MemberRate> members;
    for (size_t i = 0; i < group; ++i) {
      members.push_back({ReplicaId(i + 1), 1.0 + 20.0 * random.Uniform(),
                         1.0 + 20.0 * random.Uniform()});
    }
    const auto result = ComputeOwnerShares(100.0, members);
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
  const auto result = ComputeOwnerShares(100.0, Members({100, 1, 100}));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->shares[1], 0.0);
  EXPECT_NEAR(result->shares[0], 0.5, 1e-12);
  EXPECT_NEAR(result->seconds, 100.0, 1e-9);
  EXPECT_NE(result->reason.find("replica 2"), std::string::npos);
}

TEST(OwnerSharesTest, OneAndTwoMembersNeedNoFormula) {
  EXPECT_EQ(ComputeOwnerShares(10.0, Members({5}))->seconds, 0.0);
  const auto two = ComputeOwnerShares(10.0, Members({5, 15}));
  EXPECT_EQ(two->seconds, 2.0);
  EXPECT_EQ(two->shares[0], 0.25);
}

TEST(OwnerSharesTest, WhatHasNoRateIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(ComputeOwnerShares(1.0, {}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      ComputeOwnerShares(1.0, Members({1, 0, 1})).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      ComputeOwnerShares(-1.0, Members({1, 1, 1})).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(AssignOwners(1.0, {}, Members({1})).status()));
}

// All assignments of a few equal spans to three members.
TEST(OwnerAssignmentTest, EqualSpansAreAssignedAsWellAsBySearch) {
  Random random(11);
  const auto spans = EqualSpans(7, 64);
  for (int trial = 0; trial < 30; ++trial) {
    const auto members =
        Members({1 + 9 * random.Uniform(), 1 + 9 * random.Uniform(),
                 1 + 9 * random.Uniform()});
    const auto result = AssignOwners(1.0, spans, members);
    ASSERT_TRUE(result.ok());
    double best = 1e30;
    for (int code = 0; code < 2187; ++code) {  // 3^7
      std::vector<double> shares(3, 0.0);
      for (int s = 0, rest = code; s < 7; ++s, rest /= 3) {
        shares[rest % 3] += 1.0 / 7;
      }
      double t = 0.0;
      for (size_t i = 0; i < 3; ++i) {
        t = std::max(t, MemberSeconds(7 * 64.0, shares, i, members[i]));
      }
      best = std::min(best, t);
    }
    EXPECT_NEAR(result->seconds, best, 1e-9 * best);
  }
}

TEST(OwnerAssignmentTest, WholeSpansCostAtMostOneSpanMoreThanTheFormula) {
  Random random(12);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<MemberRate> members;
    const size_t group = 3 + random.Below(5);
    for (size_t i = 0; i < group; ++i) {
      members.push_back({ReplicaId(i + 1), 1 + 50 * random.Uniform(),
                         1 + 50 * random.Uniform()});
    }
    const auto spans = CutSpans(1 + random.Below(1 << 22));
    const auto assigned = AssignOwners(1.016, *spans, members);
    ASSERT_TRUE(assigned.ok());
    ASSERT_EQ(assigned->owner.size(), spans->size());
    const double bytes = 1.016 * static_cast<double>(spans->back().end);
    const auto ideal = ComputeOwnerShares(bytes, members);
    double slowest_rate = 1e30;
    for (const MemberRate& member : members) {
      slowest_rate = std::min(
          {slowest_rate, member.up_bytes_per_s, member.down_bytes_per_s});
    }
    const double one_span = 1.016 * static_cast<double>((*spans)[0].size()) *
                            static_cast<double>(group - 2) / slowest_rate;
    EXPECT_GE(assigned->seconds, ideal->seconds * (1 - 1e-9));
    EXPECT_LE(assigned->seconds, ideal->seconds + one_span);
  }
}

TEST(OwnerAssignmentTest, TwoMembersShareByRate) {
  const auto result = AssignOwners(1.0, EqualSpans(8, 16), Members({10, 30}));
  EXPECT_EQ(std::count(result->owner.begin(), result->owner.end(), 0u), 2);
}

}  // namespace
}  // namespace skerry::planner
