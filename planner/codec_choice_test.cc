#include "planner/codec_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "planner/codec_options_testutil.h"

namespace skerry::planner {
namespace {

CodecProblem RandomProblem(uint64_t seed) {
  Random random(seed);
  CodecProblem problem;
  problem.shape.hops = 1 + static_cast<int>(random.Below(2));
  const size_t count = 1 + random.Below(4);
  problem.options = TestOptions();
  if (random.Below(2) == 0) problem.options.resize(5);
  problem.handling = {random.Below(2) == 0 ? 1.0 : 0.0,
                      random.Below(2) == 0 ? 0.9 : 0.0};
  for (size_t m = 0; m < count; ++m) {
    ExchangeMember member =
        TestMember(m + 1, std::pow(10.0, 5 + 3 * random.Uniform()),
                   1 + random.Below(4000000));
    member.link.up_bytes_per_s *= 0.2 + random.Uniform();
    member.link.rate_spread = random.Uniform();
    member.link.round_trip = absl::Milliseconds(random.Below(300));
    member.weight = 1.0 + static_cast<double>(random.Below(10));
    problem.shape.elements += member.owned_elements;
    problem.shape.members.push_back(member);
  }
  problem.budget = absl::Seconds(std::pow(10.0, -1 + 3 * random.Uniform()));
  return problem;
}

struct Oracle {
  double least_error = std::numeric_limits<double>::infinity();  // that hides
  double least_seconds = std::numeric_limits<double>::infinity();
};

// Every assignment of allowed codecs, one by one.
Oracle BruteForce(const CodecProblem& problem) {
  const auto& members = problem.shape.members;
  double total_weight = 0.0;
  for (const ExchangeMember& member : members) total_weight += member.weight;
  Oracle oracle;
  std::vector<size_t> codec(members.size(), 0);
  for (bool more = true; more;) {
    bool allowed = true;
    double first = 0.0;
    double second = 0.0;
    double squared = 0.0;
    for (size_t m = 0; m < members.size(); ++m) {
      const CodecOption& option = problem.options[codec[m]];
      allowed &= WhyRefused(option, problem.handling).empty();
      const HopSeconds times = TimesOf(problem.shape, m, codec[m], option.cost);
      first = std::max(first, times.first);
      second = std::max(second, times.second);
      const double weight = members[m].weight / total_weight;
      const double contribution = std::pow(weight * option.relative_rms, 2.0);
      const double share =
          problem.shape.hops == 1
              ? 0.0
              : static_cast<double>(members[m].owned_elements) /
                    static_cast<double>(problem.shape.elements);
      squared += (1 - share) * contribution +
                 share * std::pow(option.relative_rms, 2.0);
    }
    if (allowed) {
      oracle.least_seconds = std::min(oracle.least_seconds, first + second);
      if (first + second <= absl::ToDoubleSeconds(problem.budget)) {
        oracle.least_error = std::min(oracle.least_error, std::sqrt(squared));
      }
    }
    size_t m = 0;
    while (m < codec.size() && ++codec[m] == problem.options.size()) {
      codec[m++] = 0;
    }
    more = m < codec.size();
  }
  return oracle;
}

TEST(CodecChoiceTest, NoOtherAssignmentThatHidesHasLessError) {
  int hidden = 0;
  int late = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const CodecProblem problem = RandomProblem(seed);
    const auto choice = ChooseCodecs(problem);
    ASSERT_TRUE(choice.ok()) << choice.status();
    const Oracle oracle = BruteForce(problem);
    if (std::isfinite(oracle.least_error)) {
      ++hidden;
      EXPECT_TRUE(choice->hides);
      EXPECT_NEAR(choice->relative_error, oracle.least_error,
                  1e-12 + 1e-9 * oracle.least_error);
    } else {
      ++late;
      EXPECT_FALSE(choice->hides);
      EXPECT_NEAR(absl::ToDoubleSeconds(choice->exchange), oracle.least_seconds,
                  1e-6 * oracle.least_seconds);
    }
    EXPECT_EQ(ChooseCodecs(problem)->reason, choice->reason);
  }
  EXPECT_GT(hidden, 50);
  EXPECT_GT(late, 20);
}

TEST(CodecChoiceTest, OnlySlowLinksGetSmallCodecs) {
  CodecProblem problem;
  problem.options = TestOptions();
  problem.shape.elements = 30000000;
  problem.shape.members = {TestMember(1, 1e9, 15000000),
                           TestMember(2, 1e9, 15000000), TestMember(3, 1e7, 0)};
  problem.budget = absl::Seconds(8);
  const auto choice = ChooseCodecs(problem);
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_TRUE(choice->hides) << choice->reason;
  // Its link takes 30 MB of theirs to it, and as many of its own, in 8 s.
  EXPECT_EQ(problem.options[choice->codec[0]].name, "int8_block");
  EXPECT_EQ(problem.options[choice->codec[2]].name, "int8_block");
  problem.shape.members[2].link.up_bytes_per_s = 4e6;
  const auto slower = ChooseCodecs(problem);
  EXPECT_EQ(problem.options[slower->codec[0]].name, "int8_block");
  EXPECT_EQ(problem.options[slower->codec[2]].name, "nf4") << slower->reason;
}

TEST(CodecChoiceTest, PairsThatDivergeAreNeverChosen) {
  const ErrorHandling carried{1.0, 0.0};
  const ErrorHandling carried_momentum{1.0, 0.9};
  const ErrorHandling discarded{0.0, 0.0};
  const auto refused = [](CodecLoss loss, const ErrorHandling& handling) {
    CodecOption option;
    option.loss = loss;
    return !WhyRefused(option, handling).empty();
  };
  EXPECT_FALSE(refused(CodecLoss::kSparse, carried));
  EXPECT_FALSE(refused(CodecLoss::kOneBit, carried_momentum));
  EXPECT_TRUE(refused(CodecLoss::kSparse, carried_momentum));
  EXPECT_TRUE(refused(CodecLoss::kSparse, discarded));
  EXPECT_TRUE(refused(CodecLoss::kOneBit, discarded));
  for (const ErrorHandling& any : {carried, carried_momentum, discarded}) {
    EXPECT_TRUE(refused(CodecLoss::kOneBitWhole, any));
    EXPECT_FALSE(refused(CodecLoss::kRounding, any));
  }
  // A link on which only the smallest would do.
  CodecProblem problem;
  problem.options = TestOptions();
  problem.shape.elements = 100000000;
  problem.shape.members = {TestMember(1, 1e6, 50000000),
                           TestMember(2, 1e6, 50000000)};
  problem.budget = absl::Seconds(1);
  const auto named = [&](const ErrorHandling& handling) {
    problem.handling = handling;
    const auto choice = ChooseCodecs(problem);
    EXPECT_FALSE(choice->hides);
    return problem.options[choice->codec[0]].name;
  };
  EXPECT_EQ(named(carried), "top_k/64");
  EXPECT_EQ(named(carried_momentum), "sign1");
  EXPECT_EQ(named(discarded), "nf4");
  problem.options = {TestOptions()[7]};
  EXPECT_TRUE(absl::IsInvalidArgument(ChooseCodecs(problem).status()));
}

// The recursion whose sum RoundsAtOnce() is, with what a codec that errs so
// keeps of the norm squared of what it is given.
TEST(CodecChoiceTest, RoundsAtOnceAreTheLastRoundAndWhatIsOwedOfOthers) {
  for (const double relative_rms : {0.0, 0.0918, 0.64, 0.804, 0.976}) {
    for (const double beta : {0.0, 0.5, 1.0}) {
      double owed = 0.0;
      for (int round = 0; round < 2000; ++round) {
        owed = beta * relative_rms * relative_rms * (owed + 1.0);
      }
      EXPECT_NEAR(RoundsAtOnce(relative_rms, beta), owed + 1.0, 1e-9);
    }
  }
  EXPECT_TRUE(std::isinf(RoundsAtOnce(1.0, 1.0)));
}

TEST(CodecChoiceTest, WhatTheOuterStepWouldNotStandAtOnceIsNotChosen) {
  CodecProblem problem;
  problem.options = TestOptions();
  problem.shape.elements = 100000000;
  problem.shape.members = {TestMember(1, 1e6, 50000000),
                           TestMember(2, 1e6, 50000000)};
  problem.budget = absl::Seconds(1);
  const auto named = [&](double beta, double rounds_at_once_max) {
    problem.handling = {beta, 0.0, rounds_at_once_max};
    const auto choice = ChooseCodecs(problem);
    EXPECT_TRUE(choice.ok()) << choice.status();
    EXPECT_FALSE(choice->hides);
    EXPECT_EQ(choice->reason.find("top_k/64 refused: error feedback") !=
                  std::string::npos,
              problem.options[choice->codec[0]].name != "top_k/64")
        << choice->reason;
    return problem.options[choice->codec[0]].name;
  };
  EXPECT_EQ(named(1.0, 9.0), "top_k/64");  // 8.6 rounds
  EXPECT_EQ(named(1.0, 8.0), "sign1");     // 1.7
  EXPECT_EQ(named(0.5, 2.0), "top_k/64");  // 1.8
  // What rounds is always there.
  EXPECT_EQ(named(1.0, 1.0), "nf4");
}

TEST(CodecChoiceTest, ErrorOfExactlyErrorMaxIsAllowed) {
  const CodecOption nf4 = TestOptions()[3];
  ErrorHandling handling;
  handling.error_max = nf4.relative_rms;
  EXPECT_EQ(WhyRefused(nf4, handling), "");
  handling.error_max = std::nextafter(nf4.relative_rms, 0.0);
  EXPECT_EQ(WhyRefused(nf4, handling),
            "its error of 0.092 is above error_max, 0.092");
}

TEST(CodecChoiceTest, TheReasonNamesCodecsRatesAndRefusals) {
  CodecProblem problem = RandomProblem(5);
  problem.options = TestOptions();
  problem.handling = {0.0, 0.9};
  const std::string reason = ChooseCodecs(problem)->reason;
  EXPECT_NE(reason.find("replica 1"), std::string::npos) << reason;
  EXPECT_NE(reason.find("MB/s"), std::string::npos) << reason;
  EXPECT_NE(reason.find("top_k/8 refused"), std::string::npos) << reason;
}

}  // namespace
}  // namespace skerry::planner
