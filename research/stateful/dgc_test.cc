#include "research/stateful/dgc.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "compression/testing/backward_executor.h"
#include "compression/top_k/top_k.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

std::vector<float> Draw(Random& random, size_t count) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.5);
  }
  return values;
}

std::vector<float> Sent(const DgcOptions& options, uint64_t step,
                        const std::vector<std::byte>& payload, size_t count) {
  const auto codec = *MakeTopK({DgcDensity(options, step), options.values});
  std::vector<float> sent(count);
  EXPECT_TRUE(codec->Decode(payload, sent).ok());
  return sent;
}

TEST(DgcTest, TheWarmUpFallsToTheDensity) {
  DgcOptions options;
  options.stage_steps = 10;
  EXPECT_NEAR(DgcDensity(options, 0), 0.251, 0.001);
  EXPECT_NEAR(DgcDensity(options, 9), 0.251, 0.001);
  EXPECT_NEAR(DgcDensity(options, 10), 0.0631, 0.0001);
  EXPECT_NEAR(DgcDensity(options, 20), 0.0158, 0.0001);
  EXPECT_NEAR(DgcDensity(options, 30), 0.00398, 0.0001);
  EXPECT_NEAR(DgcDensity(options, 40), 0.001, 1e-12);
  EXPECT_NEAR(DgcDensity(options, 1u << 30), 0.001, 1e-12);
  options.warmup_stages = 0;
  EXPECT_NEAR(DgcDensity(options, 0), 0.001, 1e-12);
}

// Without masking and with everything sent, the sent values are the momentum of
// dense momentum descent.
TEST(DgcTest, SendingEverythingIsDenseMomentum) {
  for (const bool nesterov : {false, true}) {
    DgcOptions options{.density = 1.0, .nesterov = nesterov, .mask = false};
    Dgc dgc = *Dgc::Make(100, options);
    Random random(1);
    std::vector<float> momentum(100, 0.0f);
    std::vector<std::byte> payload;
    for (uint64_t step = 0; step < 20; ++step) {
      const std::vector<float> g = Draw(random, 100);
      ASSERT_TRUE(dgc.Encode(g, step, payload).ok());
      const std::vector<float> sent = Sent(options, step, payload, 100);
      for (size_t i = 0; i < 100; ++i) {
        momentum[i] =
            nesterov ? (momentum[i] + g[i]) * 0.9f : 0.9f * momentum[i] + g[i];
        ASSERT_EQ(sent[i], nesterov ? momentum[i] + g[i] : momentum[i]);
      }
    }
  }
}

TEST(DgcTest, WithoutMomentumWhatIsGivenIsSentOrKept) {
  for (const CodecId inner : {CodecId::kRawF32, CodecId::kNf4}) {
    DgcOptions options{.density = 0.01, .values = inner, .momentum = 0.0f};
    options.stage_steps = 10;
    Dgc dgc = *Dgc::Make(2000, options);
    Random random(2);
    std::vector<double> balance(2000, 0.0);
    std::vector<std::byte> payload;
    for (uint64_t step = 0; step < 100; ++step) {
      const std::vector<float> g = Draw(random, 2000);
      ASSERT_TRUE(dgc.Encode(g, step, payload).ok());
      const std::vector<float> sent = Sent(options, step, payload, 2000);
      for (size_t i = 0; i < 2000; ++i) balance[i] += g[i] - sent[i];
    }
    for (size_t i = 0; i < 2000; ++i) {
      ASSERT_NEAR(balance[i], dgc.velocity()[i], 1e-4);
    }
  }
}

// What the momentum of one gradient adds up to over `steps` steps, its own
// among them: a geometric series.
double Corrected(const DgcOptions& options, uint64_t steps) {
  const double mu = options.momentum;
  const double n = static_cast<double>(steps);
  const double series = (1.0 - std::pow(mu, n)) / (1.0 - mu);
  return options.nesterov ? 1.0 + mu * series : series;
}

// The largest |corrected - sent - kept| of a history with a warm-up, relative
// to what was corrected there. `mask` is what the oracle takes for granted: the
// momentum of a gradient works until its place is sent, or for ever.
double WorstImbalance(const DgcOptions& options, bool mask, uint64_t seed) {
  constexpr size_t kCount = 500;
  constexpr uint64_t kSteps = 60;
  Dgc dgc = *Dgc::Make(kCount, options);
  Random random(seed);
  std::vector<std::vector<float>> given;
  // The steps at which a place was sent.
  std::vector<std::vector<uint64_t>> sent_at(kCount);
  std::vector<double> sent(kCount, 0.0);
  std::vector<std::byte> payload;
  for (uint64_t step = 0; step < kSteps; ++step) {
    given.push_back(Draw(random, kCount));
    EXPECT_TRUE(dgc.Encode(given.back(), step, payload).ok());
    const std::vector<float> now = Sent(options, step, payload, kCount);
    for (size_t i = 0; i < kCount; ++i) {
      sent[i] += now[i];
      if (now[i] != 0.0f) sent_at[i].push_back(step);
    }
  }
  double worst = 0.0;
  for (size_t i = 0; i < kCount; ++i) {
    double corrected = 0.0;
    double size = 0.0;
    for (uint64_t step = 0; step < kSteps; ++step) {
      const auto next = std::ranges::lower_bound(sent_at[i], step);
      const uint64_t last =
          mask && next != sent_at[i].end() ? *next : kSteps - 1;
      const double share = given[step][i] * Corrected(options, last - step + 1);
      corrected += share;
      size += std::fabs(share);
    }
    const double imbalance = corrected - sent[i] - dgc.velocity()[i];
    worst = std::max(worst, std::fabs(imbalance) / size);
  }
  return worst;
}

TEST(DgcTest, WhatMomentumMakesOfTheGivenIsSentOrKept) {
  for (const bool mask : {true, false}) {
    for (const bool nesterov : {false, true}) {
      for (const CodecId inner : {CodecId::kRawF32, CodecId::kInt8Block}) {
        DgcOptions options{.density = 0.01, .values = inner};
        options.nesterov = nesterov;
        options.stage_steps = 8;
        options.mask = mask;
        EXPECT_LT(WorstImbalance(options, mask, 5), 1e-5);
        EXPECT_EQ(WorstImbalance(options, mask, 5),
                  WorstImbalance(options, mask, 5));
        // The law of the one is not that of the other.
        EXPECT_GT(WorstImbalance(options, !mask, 5), 0.1);
      }
    }
  }
}

TEST(DgcTest, MaskingStopsTheMomentumOfWhatWasSentAndOfNothingElse) {
  DgcOptions options{.density = 0.01, .warmup_stages = 0};
  Dgc dgc = *Dgc::Make(1000, options);
  Random random(3);
  std::vector<std::byte> payload;
  ASSERT_TRUE(dgc.Encode(Draw(random, 1000), 0, payload).ok());
  const std::vector<float> sent = Sent(options, 0, payload, 1000);
  for (size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(dgc.momentum()[i] == 0.0f, sent[i] != 0.0f);
    EXPECT_EQ(dgc.velocity()[i] == 0.0f, sent[i] != 0.0f);
  }
}

TEST(DgcTest, TheLocalNormIsClippedForItsShareOfTheWorkers) {
  DgcOptions options{.density = 1.0, .momentum = 0.0f};
  options.clip_norm = 1.0;
  options.workers = 4;
  Dgc dgc = *Dgc::Make(2, options);
  std::vector<std::byte> payload;
  ASSERT_TRUE(dgc.Encode(std::vector<float>{3, 4}, 0, payload).ok());
  const std::vector<float> sent = Sent(options, 0, payload, 2);
  EXPECT_NEAR(sent[0], 0.3, 1e-6);
  EXPECT_NEAR(sent[1], 0.4, 1e-6);
}

TEST(DgcTest, ARefusedGradientChangesNothing) {
  Dgc dgc = *Dgc::Make(3, {});
  std::vector<std::byte> payload;
  ASSERT_TRUE(dgc.Encode(std::vector<float>{1, 2, 3}, 0, payload).ok());
  const std::vector<float> before(dgc.velocity().begin(), dgc.velocity().end());
  EXPECT_TRUE(absl::IsInvalidArgument(dgc.Encode(
      std::vector<float>{1, std::numeric_limits<float>::infinity(), 3}, 1,
      payload)));
  EXPECT_EQ(std::vector<float>(dgc.velocity().begin(), dgc.velocity().end()),
            before);
  // Finite, but not what it adds up to.
  Dgc high = *Dgc::Make(3, {.density = 1.0 / 3, .warmup_stages = 0});
  const std::vector<float> most = {1, 2e38f, 2.1e38f};
  ASSERT_TRUE(high.Encode(most, 0, payload).ok());
  const float kept = high.velocity()[1];
  EXPECT_TRUE(absl::IsInvalidArgument(high.Encode(most, 1, payload)));
  EXPECT_EQ(high.velocity()[1], kept);
  EXPECT_EQ(high.momentum()[1], kept);
}

TEST(DgcTest, WhatNoPayloadCanCountIsRefusedBeforeMemoryIsAskedFor) {
  constexpr size_t kMost = (size_t{1} << 32) - 1;
  const auto make = [](size_t elements, double density, int stages) {
    DgcOptions options;
    options.density = density;
    options.warmup_stages = stages;
    return Dgc::Make(elements, options).status();
  };
  EXPECT_TRUE(absl::IsInvalidArgument(make(kMost + 1, 1.0, 4)));
  EXPECT_TRUE(absl::IsInvalidArgument(make(size_t{1} << 45, 0.001, 0)));
  // Only the warm-up sends as many.
  EXPECT_TRUE(absl::IsInvalidArgument(make(size_t{1} << 35, 0.001, 4)));
}

TEST(DgcTest, OptionsOutOfTheirDomainAreRefused) {
  const auto refused = [](const DgcOptions& options) {
    return absl::IsInvalidArgument(Dgc::Make(10, options).status());
  };
  EXPECT_FALSE(refused({}));
  EXPECT_TRUE(refused({.density = 0.0}));
  EXPECT_TRUE(refused({.density = std::nan("")}));
  EXPECT_TRUE(refused({.momentum = 1.0f}));
  EXPECT_TRUE(refused({.momentum = -0.1f}));
  EXPECT_TRUE(refused({.clip_norm = -1.0}));
  EXPECT_TRUE(refused({.workers = 0}));
  EXPECT_TRUE(refused({.warmup_stages = -1}));
  EXPECT_TRUE(refused({.stage_steps = 0}));
  EXPECT_FALSE(Dgc::Make(10, {.values = CodecId::kTopK}).ok());
}

TEST(DgcTest, ExecutorsChangeNothing) {
  constexpr size_t kLarge = 300'001;
  for (const bool nesterov : {false, true}) {
    DgcOptions options{.density = 0.01, .values = CodecId::kNf4};
    options.nesterov = nesterov;
    options.clip_norm = 1.0;
    BackwardExecutor backward(3);
    Dgc alone = *Dgc::Make(kLarge, options);
    Dgc shared = *Dgc::Make(kLarge, options, backward);
    Random random(6);
    std::vector<std::byte> expected;
    std::vector<std::byte> payload;
    for (uint64_t step = 0; step < 4; ++step) {
      const std::vector<float> g = Draw(random, kLarge);
      ASSERT_TRUE(alone.Encode(g, step, expected).ok());
      ASSERT_TRUE(shared.Encode(g, step, payload).ok());
      EXPECT_EQ(payload, expected);
      EXPECT_TRUE(std::ranges::equal(shared.velocity(), alone.velocity()));
      EXPECT_TRUE(std::ranges::equal(shared.momentum(), alone.momentum()));
    }
  }
}

// Descent on a quadratic with curvature 1 from all ones, at 1/64 density.
double LossAfter(bool mask, int steps) {
  constexpr size_t kCount = 512;
  DgcOptions options{.density = 1.0 / 64, .warmup_stages = 0, .mask = mask};
  Dgc dgc = *Dgc::Make(kCount, options);
  std::vector<float> w(kCount, 1.0f);
  std::vector<std::byte> payload;
  for (int step = 0; step < steps; ++step) {
    EXPECT_TRUE(dgc.Encode(w, 0, payload).ok());
    const std::vector<float> sent = Sent(options, 0, payload, kCount);
    for (size_t i = 0; i < kCount; ++i) w[i] -= 0.003f * sent[i];
  }
  double loss = 0.0;
  for (const float value : w) loss += value * value / kCount;
  return loss;
}

TEST(DgcTest, WithoutMaskingStaleMomentumIsWorse) {
  const double with = LossAfter(true, 3000);
  const double without = LossAfter(false, 3000);
  EXPECT_LT(with, 0.1);
  EXPECT_GT(without, 2 * with);
}

}  // namespace
}  // namespace skerry::compression
