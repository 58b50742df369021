#include "planner/codec_choice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
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

// Small enough for every pair of every member; some own nothing.
CodecProblem RandomApart(uint64_t seed) {
  CodecProblem problem = RandomProblem(seed);
  Random random(seed + 1000);
  problem.results_apart = true;
  auto& members = problem.shape.members;
  if (members.size() > 3) {
    problem.shape.elements -= members.back().owned_elements;
    members.pop_back();
  }
  if (members.size() > 1 && random.Below(2) == 0) {
    problem.shape.elements -= members[0].owned_elements;
    members[0].owned_elements = 0;
  }
  while (problem.options.size() > 4) {
    const size_t out = random.Below(problem.options.size());
    // One that the job may use stays.
    if (problem.options[out].name == "bf16") continue;
    problem.options.erase(problem.options.begin() +
                          static_cast<std::ptrdiff_t>(out));
  }
  // What some machine is slow at takes long in one hop and not in the other.
  for (ExchangeMember& member : members) {
    for (size_t c = 0; c < problem.options.size(); ++c) {
      member.codec_speeds.push_back({std::pow(10.0, -4 * random.Uniform()),
                                     std::pow(10.0, -4 * random.Uniform())});
    }
  }
  return problem;
}

struct Oracle {
  double least_error = std::numeric_limits<double>::infinity();  // that hides
  double least_seconds = std::numeric_limits<double>::infinity();
};

// Tries every assignment of allowed codecs, one by one.
Oracle BruteForce(const CodecProblem& problem) {
  const auto& members = problem.shape.members;
  double total_weight = 0.0;
  for (const ExchangeMember& member : members) total_weight += member.weight;
  Oracle oracle;
  const size_t count = members.size();
  // The codecs of contributions by member and, if results may have others, the
  // codecs of results after them.
  std::vector<size_t> codec(problem.results_apart ? 2 * count : count, 0);
  for (bool more = true; more;) {
    bool allowed = true;
    double first = 0.0;
    double second = 0.0;
    double squared = 0.0;
    for (size_t m = 0; m < count; ++m) {
      const size_t c = codec[m];
      const size_t r = codec[problem.results_apart ? count + m : m];
      const CodecOption& in = problem.options[c];
      const CodecOption& out = problem.options[r];
      allowed &= WhyRefused(in, problem.handling).empty() &&
                 WhyRefused(out, problem.handling).empty();
      first = std::max(first, TimesOf(problem.shape, m, c, in.cost).first);
      second = std::max(second, TimesOf(problem.shape, m, r, out.cost).second);
      const double weight = members[m].weight / total_weight;
      const double share =
          problem.shape.hops == 1
              ? 0.0
              : static_cast<double>(members[m].owned_elements) /
                    static_cast<double>(problem.shape.elements);
      squared += (1 - share) * std::pow(weight * in.relative_rms, 2.0) +
                 share * std::pow(out.relative_rms, 2.0);
    }
    if (allowed) {
      oracle.least_seconds = std::min(oracle.least_seconds, first + second);
      if (first + second <= absl::ToDoubleSeconds(problem.budget)) {
        oracle.least_error = std::min(oracle.least_error, std::sqrt(squared));
      }
    }
    size_t digit = 0;
    while (digit < codec.size() && ++codec[digit] == problem.options.size()) {
      codec[digit++] = 0;
    }
    more = digit < codec.size();
  }
  return oracle;
}

// Returns true when the exchange can hide.
bool ExpectNoneBetter(const CodecProblem& problem, const CodecChoice& choice) {
  const Oracle oracle = BruteForce(problem);
  const bool can_hide = std::isfinite(oracle.least_error);
  EXPECT_EQ(choice.hides, can_hide);
  if (can_hide) {
    EXPECT_NEAR(choice.relative_error, oracle.least_error,
                1e-12 + 1e-9 * oracle.least_error);
  } else {
    EXPECT_NEAR(absl::ToDoubleSeconds(choice.exchange), oracle.least_seconds,
                1e-6 * oracle.least_seconds);
  }
  EXPECT_EQ(ChooseCodecs(problem)->reason, choice.reason);
  return can_hide;
}

TEST(CodecChoiceTest, NoOtherAssignmentThatHidesHasLessError) {
  int hidden = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const CodecProblem problem = RandomProblem(seed);
    const auto choice = ChooseCodecs(problem);
    ASSERT_TRUE(choice.ok()) << choice.status();
    hidden += ExpectNoneBetter(problem, *choice) ? 1 : 0;
    EXPECT_EQ(choice->result_codec, choice->codec);
  }
  EXPECT_GT(hidden, 50);
  EXPECT_LT(hidden, 280);
}

TEST(CodecChoiceTest, NoOtherPairsThatHideHaveLessError) {
  int hidden = 0;
  int apart = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const CodecProblem problem = RandomApart(seed);
    const auto choice = ChooseCodecs(problem);
    ASSERT_TRUE(choice.ok()) << choice.status();
    hidden += ExpectNoneBetter(problem, *choice) ? 1 : 0;
    apart += choice->result_codec != choice->codec ? 1 : 0;
    for (size_t m = 0; m < problem.shape.members.size(); ++m) {
      if (ResultsApart(problem, m)) continue;
      EXPECT_EQ(choice->result_codec[m], choice->codec[m]);
    }
  }
  EXPECT_GT(hidden, 50);
  EXPECT_LT(hidden, 280);
  EXPECT_GT(apart, 30);
}

// Many contributions' errors average out; a result's does not.
TEST(CodecChoiceTest, ExactResultsOfCoarseContributionsErrLessThanOneCodec) {
  CodecProblem problem;
  problem.options = TestOptions();
  problem.handling = {1.0, 0.9};
  problem.shape.elements = 40000000;
  for (uint64_t m = 1; m <= 4; ++m) {
    problem.shape.members.push_back(TestMember(m, 1e7, 10000000));
  }
  // A hop of nf4 takes 1.6 s, one of sign1 0.4 s.
  problem.budget = absl::Seconds(2.2);
  const auto one = ChooseCodecs(problem);
  ASSERT_TRUE(one.ok()) << one.status();
  problem.results_apart = true;
  const auto two = ChooseCodecs(problem);
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_TRUE(one->hides && two->hides);
  EXPECT_LT(two->relative_error, 0.5 * one->relative_error);
  EXPECT_NE(two->reason.find("replica 4 (10 MB/s) sign1, results nf4: "),
            std::string::npos)
      << two->reason;
  EXPECT_EQ(one->reason.find("results"), std::string::npos) << one->reason;
}

TEST(CodecChoiceTest, WhereNothingIsGainedResultsTravelAsContributions) {
  CodecProblem problem;
  problem.options = TestOptions();
  problem.shape.elements = 1000000;
  problem.results_apart = true;
  problem.budget = absl::Seconds(1);
  // One owner, whose contribution goes nowhere in whatever codec.
  problem.shape.members = {TestMember(1, 1e6, 1000000), TestMember(2, 1e6, 0)};
  const auto owner = ChooseCodecs(problem);
  ASSERT_TRUE(owner.ok()) << owner.status();
  EXPECT_EQ(owner->result_codec, owner->codec) << owner->reason;
  EXPECT_EQ(problem.options[owner->codec[0]].name, "nf4") << owner->reason;
  // One hop, so no results.
  problem.shape.hops = 1;
  EXPECT_FALSE(ResultsApart(problem, 0));
  const auto hop = ChooseCodecs(problem);
  ASSERT_TRUE(hop.ok()) << hop.status();
  EXPECT_EQ(hop->result_codec, hop->codec) << hop->reason;
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
