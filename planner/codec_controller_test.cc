#include "planner/codec_controller.h"

#include <string>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "planner/codec_options_testutil.h"

namespace skerry::planner {
namespace {

CodecProblem ProblemOf(const std::vector<double>& rates) {
  CodecProblem problem;
  problem.options = TestOptions();
  problem.handling = {1.0, 0.0};
  problem.budget = absl::Seconds(6);
  for (size_t i = 0; i < rates.size(); ++i) {
    problem.shape.members.push_back(TestMember(i + 1, rates[i], 10000000));
    problem.shape.elements += 10000000;
  }
  return problem;
}

// Each rate times 1 plus or minus at most `noise`.
CodecProblem Noisy(std::vector<double> rates, double noise, Random& random,
                   bool results_apart = false) {
  for (double& rate : rates) {
    rate *= 1 + noise * (2 * random.Uniform() - 1);
  }
  CodecProblem problem = ProblemOf(rates);
  problem.results_apart = results_apart;
  return problem;
}

int Changes(CodecController& controller, const std::vector<double>& rates,
            double noise, Random& random, int times,
            bool results_apart = false) {
  int changes = 0;
  for (int i = 0; i < times; ++i) {
    const auto decision =
        controller.Decide(Noisy(rates, noise, random, results_apart));
    EXPECT_TRUE(decision.ok()) << decision.status();
    changes += decision->changed ? 1 : 0;
  }
  return changes;
}

TEST(CodecControllerTest, NoiseDoesNotFlapAndAStepChangesOnce) {
  // Whatever the rates are, so also where two codecs are about as good.
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const double rate = 2e6 * (1 + 30 * random.Uniform());
    CodecController controller({});
    EXPECT_LE(Changes(controller, {rate, rate, 3 * rate}, 0.08, random, 100),
              1);
    EXPECT_EQ(Changes(controller, {rate, rate, 3 * rate}, 0.08, random, 100),
              0);
    const std::vector<double> stepped = {rate / 12, rate, 3 * rate};
    EXPECT_EQ(Changes(controller, stepped, 0.08, random, 100), 1);
  }
}

TEST(CodecControllerTest, NoiseDoesNotFlapPairsAndAStepChangesThemOnce) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const double rate = 2e6 * (1 + 30 * random.Uniform());
    const std::vector<double> rates = {rate, rate, 3 * rate};
    const std::vector<double> stepped = {rate / 12, rate, 3 * rate};
    CodecController controller({});
    EXPECT_LE(Changes(controller, rates, 0.08, random, 100, true), 1);
    EXPECT_EQ(Changes(controller, rates, 0.08, random, 100, true), 0);
    EXPECT_EQ(Changes(controller, stepped, 0.08, random, 100, true), 1);
  }
}

TEST(CodecControllerTest, ResultsKeepTheirCodecUntilTheyMustShareOne) {
  CodecController controller({});
  CodecProblem problem = ProblemOf({5e6, 5e6, 5e6});
  problem.handling.momentum = 0.9;
  problem.results_apart = true;
  // A hop of nf4 takes 2.2 s, one of sign1 0.6 s.
  problem.budget = absl::Seconds(3);
  const auto pairs = controller.Decide(problem);
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  EXPECT_NE(pairs->choice.result_codec, pairs->choice.codec)
      << pairs->choice.reason;
  // A choice anew would be another, but not by enough.
  problem.budget *= 0.9;
  ASSERT_NE(ChooseCodecs(problem)->result_codec, pairs->choice.result_codec);
  const auto kept = controller.Decide(problem);
  EXPECT_FALSE(kept->changed) << kept->choice.reason;
  EXPECT_EQ(kept->choice.codec, pairs->choice.codec);
  EXPECT_EQ(kept->choice.result_codec, pairs->choice.result_codec);
  // A worker has joined that takes no results in a codec of their own.
  problem.results_apart = false;
  const auto shared = controller.Decide(problem);
  EXPECT_TRUE(shared->changed);
  EXPECT_EQ(shared->choice.result_codec, shared->choice.codec);
}

TEST(CodecControllerTest, WithoutABandTheSameNoiseFlaps) {
  int changes = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const double rate = 2e6 * (1 + 30 * random.Uniform());
    CodecController controller({.band = 0.0, .gain = 0.0});
    changes += Changes(controller, {rate, rate, 3 * rate}, 0.08, random, 100);
  }
  EXPECT_GT(changes, 100);
}

TEST(CodecControllerTest, AStepIsFollowedDownAndUpAgain) {
  CodecController controller({});
  const auto fast = ProblemOf({5e7, 5e7, 5e7});
  const auto slow = ProblemOf({2e6, 5e7, 5e7});
  const auto first = controller.Decide(fast);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(first->changed);
  const auto second = controller.Decide(slow);
  EXPECT_TRUE(second->changed);
  EXPECT_NE(second->choice.codec, first->choice.codec);
  EXPECT_NE(second->choice.reason.find("before"), std::string::npos)
      << second->choice.reason;
  const auto third = controller.Decide(fast);
  EXPECT_TRUE(third->changed);
  EXPECT_EQ(third->choice.codec, first->choice.codec);
}

TEST(CodecControllerTest, WhoJoinsChangesNobodysCodecThatStillHides) {
  CodecController controller({});
  auto problem = ProblemOf({3e7, 3e7});
  const auto before = controller.Decide(problem);
  problem.shape.members.push_back(TestMember(7, 3e7, 0));
  const auto after = controller.Decide(problem);
  EXPECT_FALSE(after->changed) << after->choice.reason;
  EXPECT_EQ(after->choice.codec[0], before->choice.codec[0]);
  EXPECT_EQ(after->choice.codec.size(), 3u);
}

TEST(CodecControllerTest, ACodecThatMayNoLongerBeUsedIsLeft) {
  CodecController controller({});
  auto problem = ProblemOf({1e5, 1e5});
  const auto sparse = controller.Decide(problem);
  EXPECT_EQ(problem.options[sparse->choice.codec[0]].loss, CodecLoss::kSparse)
      << sparse->choice.reason;
  problem.handling.momentum = 0.9;
  const auto dense = controller.Decide(problem);
  EXPECT_TRUE(dense->changed);
  EXPECT_NE(problem.options[dense->choice.codec[0]].loss, CodecLoss::kSparse);
}

// Members that send at these rates to one owner behind a fast link.
CodecProblem SendersOf(std::vector<double> rates, double noise,
                       Random& random) {
  CodecProblem problem = ProblemOf({});
  problem.shape.elements = 10000000;
  problem.shape.members = {TestMember(99, 1e12, 10000000)};
  for (size_t i = 0; i < rates.size(); ++i) {
    const double rate = rates[i] * (1 + noise * (2 * random.Uniform() - 1));
    problem.shape.members.push_back(TestMember(i + 1, rate, 0));
    problem.shape.members.back().link.down_bytes_per_s = 1e12;
  }
  return problem;
}

int AdaTopKChanges(CodecController& controller,
                   const std::vector<double>& rates, Random& random) {
  int changes = 0;
  for (int i = 0; i < 100; ++i) {
    const auto decision = controller.Decide(SendersOf(rates, 0.04, random));
    EXPECT_TRUE(decision.ok()) << decision.status();
    changes += decision->changed ? 1 : 0;
  }
  return changes;
}

TEST(CodecControllerTest, AdaTopKDoesNotFlapAndAStepChangesOnce) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const double rate = 2e6 * (1 + 30 * random.Uniform());
    // How much slower than its like the slow one is, so that some of these lie
    // where two codecs are about as good.
    const double slower = 1 + 60 * random.Uniform();
    CodecController controller({.ada_top_k = 16});
    EXPECT_LE(
        AdaTopKChanges(controller, {rate / slower, rate, 3 * rate}, random), 1);
    EXPECT_EQ(
        AdaTopKChanges(controller, {rate / slower, rate, 3 * rate}, random), 0);
    // Now the fastest is far slower than the others.
    EXPECT_EQ(AdaTopKChanges(controller, {rate, rate, rate / 100}, random), 1);
  }
}

TEST(CodecControllerTest, AdaTopKWithoutABandFlaps) {
  int changes = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const double slower = 1 + 60 * random.Uniform();
    CodecController controller({.band = 0.0, .ada_top_k = 16});
    changes += AdaTopKChanges(controller, {2e7 / slower, 2e7, 6e7}, random);
  }
  EXPECT_GT(changes, 20);
}

TEST(CodecControllerTest, AdaTopKHasOneCodecForContributionsAndResults) {
  CodecController controller({.ada_top_k = 16});
  CodecProblem problem = ProblemOf({1e6, 2e7, 6e7});
  problem.results_apart = true;
  for (int i = 0; i < 2; ++i) {
    const auto decision = controller.Decide(problem);
    ASSERT_TRUE(decision.ok()) << decision.status();
    EXPECT_EQ(decision->choice.result_codec, decision->choice.codec);
  }
}

TEST(CodecControllerTest, AdaTopKSaysWhoseCodecDidNotFitItsLink) {
  Random random(1);
  CodecController controller({.ada_top_k = 16});
  ASSERT_TRUE(controller.Decide(SendersOf({1e6, 2e7}, 0, random)).ok());
  const auto after = controller.Decide(SendersOf({2e7, 1e6}, 0, random));
  ASSERT_TRUE(after.ok());
  EXPECT_TRUE(after->changed);
  for (const char* words :
       {"would send less than its link's share for replica 1",
        "would send more than its link's share for replica 2"}) {
    EXPECT_NE(after->choice.reason.find(words), std::string::npos)
        << after->choice.reason;
  }
}

}  // namespace
}  // namespace skerry::planner
