// DiLoCo on the toy, its pseudo-gradients by every kind of codec: four bits are
// as good as 32, one bit nearly so with error feedback, and very sparse ones
// with error feedback want an outer loop without momentum.
#include "research/ablation/outer_loop.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compression/chunk_top_k/chunk_top_k.h"
#include "compression/codec.h"
#include "compression/testing/toy_model.h"
#include "compression/top_k/top_k.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

constexpr uint64_t kSeeds[] = {1, 2, 3, 4};

struct Losses {
  double test = 0.0;
  double train = 0.0;
};

Losses LossesAfterTraining(uint64_t seed, const OuterLoop& loop) {
  const ToyModel model(seed);
  const std::vector<float> anchor = TrainInRounds(model, loop);
  return {model.TestLoss(anchor), model.TrainLoss(anchor)};
}

std::shared_ptr<const Codec> TopK(double density) {
  return *MakeTopK({density, CodecId::kRawF32});
}

class OuterLoopAblation : public ::testing::Test {
 protected:
  Spread Measure(const std::string& name, const OuterLoop& method) {
    return MeasureBoth(name, method).test;
  }

  struct Both {
    Spread test;
    Spread train;
  };
  Both MeasureBoth(const std::string& name, const OuterLoop& method) {
    std::vector<double> test;
    std::vector<double> train;
    for (const uint64_t seed : kSeeds) {
      const Losses losses = LossesAfterTraining(seed, method);
      test.push_back(losses.test);
      train.push_back(losses.train);
    }
    const Both both = {SpreadOf(test), SpreadOf(train)};
    std::printf("%-40s %.4f +- %.4f, of the training samples %.4f +- %.4f\n",
                name.c_str(), both.test.mean, both.test.deviation,
                both.train.mean, both.train.deviation);
    std::fflush(stdout);
    return both;
  }
};

TEST_F(OuterLoopAblation,
       FourBitsAreAsGoodAsThirtyTwoAndTwoOrOneWithFeedbackNearly) {
  const Spread full = Measure("raw_f32", {Dense(CodecId::kRawF32)});
  EXPECT_LT(full.mean, 0.8);  // it learns at all: chance is 1.386
  for (const CodecId id :
       {CodecId::kInt8Block, CodecId::kNf4, CodecId::kE3m0}) {
    const Spread few = Measure(std::string(CodecName(id)), {Dense(id)});
    EXPECT_LT(std::fabs(few.mean - full.mean), 2 * full.deviation)
        << CodecName(id);
  }
  const Spread one = Measure("sign1", {Dense(CodecId::kSign1)});
  const Spread fed = Measure("sign1, feedback", {Dense(CodecId::kSign1), true});
  EXPECT_LT(std::fabs(fed.mean - full.mean), 2 * full.deviation);
  // As MuLoCo does, which has the momentum too.
  const Spread two =
      Measure("lloyd2, feedback", {Dense(CodecId::kLloyd2), true});
  EXPECT_LT(std::fabs(two.mean - full.mean), 2 * full.deviation);
  // One round's loss of nine tenths hardly shows in so short a training; what
  // one bit without feedback does to an optimizer, one_bit_adam_test shows.
  EXPECT_LT(fed.mean, one.mean + full.deviation);
}

TEST_F(OuterLoopAblation,
       VerySparseWithFeedbackWantsAnOuterLoopWithoutMomentum) {
  const Spread forgetful = Measure("top_k 1/64", {TopK(1.0 / 64)});
  const Spread broken = Measure("top_k 1/64, feedback", {TopK(1.0 / 64), true});
  const Spread steady = Measure("top_k 1/64, feedback, no momentum",
                                {TopK(1.0 / 64), true, {1.0f, 0.0f}});
  EXPECT_GT(broken.mean, forgetful.mean + 3 * forgetful.deviation);
  const Spread unfed =
      Measure("top_k 1/64, no momentum", {TopK(1.0 / 64), false, {1.0f, 0.0f}});
  const Spread fading =
      Measure("top_k 1/64, feedback of 0.95, no momentum",
              {TopK(1.0 / 64), true, {1.0f, 0.0f}, 50, 0.95f});
  // In an outer loop without momentum, feedback is better. Better than both is
  // momentum without feedback, as it makes what is sent once move the model
  // seven times as far.
  EXPECT_GT(unfed.mean, steady.mean + 3 * unfed.deviation);
  // In 40 rounds most of what is owed is stale when it is sent.
  EXPECT_GT(steady.mean, fading.mean + 3 * steady.deviation);
  EXPECT_GT(broken.mean, 2 * steady.mean);
  EXPECT_GT(broken.mean, steady.mean + 3 * steady.deviation);
}

// Prints all rows of the DiLoCo table in
// docs/measurements/training_with_codecs.md.
TEST_F(OuterLoopAblation, DISABLED_TheTable) {
  const auto chunks = [](size_t kept) {
    return std::shared_ptr<const Codec>(*MakeChunkTopK(kept));
  };
  for (const uint64_t inner : {50, 20}) {
    const std::string h = "H " + std::to_string(inner) + ", ";
    for (const CodecId id :
         {CodecId::kRawF32, CodecId::kInt8Block, CodecId::kNf4, CodecId::kE3m0,
          CodecId::kLloyd2, CodecId::kSign1}) {
      const std::string name = h + std::string(CodecName(id));
      Measure(name, {Dense(id), false, {0.7f, 0.9f}, inner});
      Measure(name + ", feedback", {Dense(id), true, {0.7f, 0.9f}, inner});
    }
    for (const int ratio : {8, 64}) {
      const std::string name = h + "top_k 1/" + std::to_string(ratio);
      const auto codec = TopK(1.0 / ratio);
      Measure(name, {codec, false, {0.7f, 0.9f}, inner});
      Measure(name + ", feedback", {codec, true, {0.7f, 0.9f}, inner});
      Measure(name + ", no momentum", {codec, false, {1.0f, 0.0f}, inner});
      for (const float beta : {1.0f, 0.95f}) {
        Measure(name + ", no momentum, beta " + std::to_string(beta),
                {codec, true, {1.0f, 0.0f}, inner, beta});
      }
      Measure(h + "chunk_top_k/" + std::to_string(ratio) +
                  ", feedback, no momentum",
              {chunks(4096 / ratio), true, {1.0f, 0.0f}, inner});
    }
  }
}

// Prints losses for docs/measurements/training_with_codecs.md: of trainings
// that send all that error feedback owes in their last rounds, and of others.
// They show whether a short training misses what it owes at the end.
TEST_F(OuterLoopAblation, DISABLED_WhatIsOwedAtTheEnd) {
  for (const uint64_t steps : {2000, 8000}) {
    const auto measure = [&](const char* name, OuterLoop method) {
      method.steps = steps;
      Measure(std::to_string(steps) + " steps, " + name, method);
    };
    const auto one_in_64 = TopK(1.0 / 64);
    measure("raw_f32", {Dense(CodecId::kRawF32)});
    measure("1/64", {one_in_64});
    OuterLoop steady = {one_in_64, true, {1.0f, 0.0f}};
    measure("1/64, feedback, no momentum", steady);
    steady.quiet_rounds = 1;
    measure("the same, all in the last round", steady);
    steady.quiet_rounds = 4;
    measure("the same, all in the last four rounds", steady);
  }
}

// The same with more rounds, each of 20 inner steps.
TEST_F(OuterLoopAblation, ItIsTheSameWithShorterRounds) {
  const auto method = [](std::shared_ptr<const Codec> codec, bool feed_back,
                         OuterRule rule) {
    return OuterLoop{std::move(codec), feed_back, rule, 20};
  };
  const Spread full = Measure(
      "H 20, raw_f32", method(Dense(CodecId::kRawF32), false, {0.7f, 0.9f}));
  const Spread nf4 =
      Measure("H 20, nf4", method(Dense(CodecId::kNf4), false, {0.7f, 0.9f}));
  const Spread broken = Measure("H 20, top_k 1/64, feedback",
                                method(TopK(1.0 / 64), true, {0.7f, 0.9f}));
  const Spread steady = Measure("H 20, top_k 1/64, feedback, no momentum",
                                method(TopK(1.0 / 64), true, {1.0f, 0.0f}));
  EXPECT_LT(std::fabs(nf4.mean - full.mean), 2 * full.deviation);
  EXPECT_GT(broken.mean, 1.5 * steady.mean);
  EXPECT_GT(broken.mean, steady.mean + 3 * steady.deviation);
}

TEST_F(OuterLoopAblation, TheSameSeedGivesTheSameLoss) {
  const OuterLoop method = {TopK(1.0 / 64), true};
  EXPECT_EQ(LossesAfterTraining(9, method).test,
            LossesAfterTraining(9, method).test);
}

}  // namespace
}  // namespace skerry::compression
