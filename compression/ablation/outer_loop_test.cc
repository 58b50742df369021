// DiLoCo (arXiv 2311.08105) on the toy, four workers, its pseudo-gradients by
// every kind of codec: four bits are as good as 32, one bit nearly so with
// error feedback, and very sparse ones with error feedback want an outer loop
// without momentum.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compression/ablation/toy_model.h"
#include "compression/codec.h"
#include "compression/sparse/sparse_codec.h"
#include "compression/stateful/error_feedback.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

constexpr int kWorkers = 4;
constexpr uint64_t kInnerSteps = 2000;
constexpr double kRate = 3e-3;
constexpr float kBeta1 = 0.9f;
constexpr float kBeta2 = 0.999f;
constexpr float kEpsilon = 1e-8f;
constexpr size_t kCount = ToyModel::kParameters;
constexpr uint64_t kSeeds[] = {1, 2, 3, 4};

struct Method {
  std::shared_ptr<const Codec> codec;
  bool feed_back = false;
  float outer_rate = 0.7f;
  float outer_momentum = 0.9f;
  uint64_t inner_steps = 50;  // of a round
};

// One worker: AdamW whose moments are its own.
struct Worker {
  std::vector<float> w = std::vector<float>(kCount);
  std::vector<float> m = std::vector<float>(kCount, 0.0f);
  std::vector<float> v = std::vector<float>(kCount, 0.0f);

  void Step(const std::vector<float>& g, uint64_t step) {
    const auto rate =
        static_cast<float>(kRate * CosineSchedule(step, kInnerSteps));
    const auto done = static_cast<double>(step + 1);
    const auto fix1 = static_cast<float>(1 - std::pow(kBeta1, done));
    const auto fix2 = static_cast<float>(1 - std::pow(kBeta2, done));
    for (size_t i = 0; i < kCount; ++i) {
      m[i] = kBeta1 * m[i] + (1 - kBeta1) * g[i];
      v[i] = kBeta2 * v[i] + (1 - kBeta2) * g[i] * g[i];
      w[i] -= rate * (m[i] / fix1) / (std::sqrt(v[i] / fix2) + kEpsilon);
    }
  }
};

double LossAfterTraining(uint64_t seed, const Method& method) {
  const ToyModel model(seed);
  std::vector<float> anchor = model.FirstParameters();
  std::vector<float> momentum(kCount, 0.0f), delta(kCount), g(kCount);
  std::vector<Worker> workers(kWorkers);
  std::vector<ErrorFeedback> feedback(
      kWorkers, ErrorFeedback(kCount, method.feed_back ? 1.0f : 0.0f));
  std::vector<std::byte> payload;
  for (uint64_t step = 0; step < kInnerSteps; step += method.inner_steps) {
    std::vector<float> sum(kCount, 0.0f);
    for (int n = 0; n < kWorkers; ++n) {
      Worker& worker = workers[n];
      worker.w = anchor;
      for (uint64_t inner = step; inner < step + method.inner_steps; ++inner) {
        model.Gradient(worker.w, n, inner, g);
        worker.Step(g, inner);
      }
      for (size_t i = 0; i < kCount; ++i) delta[i] = anchor[i] - worker.w[i];
      EXPECT_TRUE(feedback[n].Encode(*method.codec, delta, payload).ok());
      EXPECT_TRUE(method.codec->DecodeAdd(payload, sum).ok());
    }
    for (size_t i = 0; i < kCount; ++i) {
      const float mean = sum[i] / kWorkers;
      momentum[i] = method.outer_momentum * momentum[i] + mean;
      anchor[i] -=
          method.outer_rate * (mean + method.outer_momentum * momentum[i]);
    }
  }
  return model.TestLoss(anchor);
}

std::shared_ptr<const Codec> Dense(CodecId id) {
  return std::shared_ptr<const Codec>(std::shared_ptr<const Codec>(),
                                      *FindCodec(id));
}
std::shared_ptr<const Codec> TopK(double density) {
  return *MakeTopK({density, CodecId::kRawF32});
}

class OuterLoopAblation : public ::testing::Test {
 protected:
  Spread Measure(const std::string& name, const Method& method) {
    std::vector<double> losses;
    for (const uint64_t seed : kSeeds) {
      losses.push_back(LossAfterTraining(seed, method));
    }
    const Spread spread = SpreadOf(losses);
    std::printf("%-40s %.4f +- %.4f\n", name.c_str(), spread.mean,
                spread.deviation);
    return spread;
  }
};

TEST_F(OuterLoopAblation,
       FourBitsAreAsGoodAsThirtyTwoAndOneWithFeedbackNearly) {
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
  // One round's loss of nine tenths hardly shows in so short a training; what
  // one bit without feedback does to an optimizer, one_bit_adam_test shows.
  EXPECT_LT(fed.mean, one.mean + full.deviation);
}

TEST_F(OuterLoopAblation,
       VerySparseWithFeedbackWantsAnOuterLoopWithoutMomentum) {
  const Spread forgetful = Measure("top_k 1/64", {TopK(1.0 / 64)});
  const Spread broken = Measure("top_k 1/64, feedback", {TopK(1.0 / 64), true});
  const Spread steady = Measure("top_k 1/64, feedback, no momentum",
                                {TopK(1.0 / 64), true, 1.0f, 0.0f});
  EXPECT_GT(broken.mean, forgetful.mean + 3 * forgetful.deviation);
  EXPECT_GT(broken.mean, 2 * steady.mean);
  EXPECT_GT(broken.mean, steady.mean + 3 * steady.deviation);
}

// The same with more rounds, each of 20 inner steps.
TEST_F(OuterLoopAblation, ItIsTheSameWithShorterRounds) {
  const auto method = [](std::shared_ptr<const Codec> codec, bool feed_back,
                         float rate, float momentum) {
    return Method{std::move(codec), feed_back, rate, momentum, 20};
  };
  const Spread full = Measure(
      "H 20, raw_f32", method(Dense(CodecId::kRawF32), false, 0.7f, 0.9f));
  const Spread nf4 =
      Measure("H 20, nf4", method(Dense(CodecId::kNf4), false, 0.7f, 0.9f));
  const Spread broken = Measure("H 20, top_k 1/64, feedback",
                                method(TopK(1.0 / 64), true, 0.7f, 0.9f));
  const Spread steady = Measure("H 20, top_k 1/64, feedback, no momentum",
                                method(TopK(1.0 / 64), true, 1.0f, 0.0f));
  EXPECT_LT(std::fabs(nf4.mean - full.mean), 2 * full.deviation);
  EXPECT_GT(broken.mean, 1.5 * steady.mean);
  EXPECT_GT(broken.mean, steady.mean + 3 * steady.deviation);
}

TEST_F(OuterLoopAblation, TheSameSeedGivesTheSameLoss) {
  const Method method = {TopK(1.0 / 64), true};
  EXPECT_EQ(LossAfterTraining(9, method), LossAfterTraining(9, method));
}

}  // namespace
}  // namespace skerry::compression
