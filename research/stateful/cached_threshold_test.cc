#include "research/stateful/cached_threshold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "compression/testing/backward_executor.h"
#include "gtest/gtest.h"
#include "research/stateful/error_feedback.h"

namespace skerry::compression {
namespace {

constexpr size_t kElements = 5000;
constexpr double kDensity = 0.05;
constexpr size_t kTarget = 250;

// Draws values with an exponential tail, so that a count tells how far off a
// threshold is.
std::vector<float> Draw(Random& random, double scale = 1.0) {
  std::vector<float> values(kElements);
  for (float& value : values) {
    const double size = -std::log(1 - random.Uniform());
    value =
        static_cast<float>(random.Below(2) == 0 ? scale * size : -scale * size);
  }
  return values;
}

struct Step {
  double count = 0.0;
  double squares = 0.0;  // of what was sent
};

Step Sent(CachedThreshold& cached, const std::vector<float>& values) {
  Workspace workspace;
  std::vector<std::byte> payload;
  std::vector<float> decoded(values.size());
  EXPECT_TRUE(cached.Encode(values, payload, workspace).ok());
  EXPECT_TRUE(cached.reader().Decode(payload, decoded).ok());
  Step step;
  for (size_t i = 0; i < values.size(); ++i) {
    if (decoded[i] == 0.0f) continue;
    EXPECT_EQ(decoded[i], values[i]);
    ++step.count;
    step.squares += std::pow(static_cast<double>(decoded[i]), 2);
  }
  return step;
}

// Returns the sum of squares of the kTarget largest magnitudes.
double LargestSquares(std::vector<float> values) {
  std::ranges::sort(values, {}, [](float value) { return -std::fabs(value); });
  double squares = 0.0;
  for (size_t i = 0; i < kTarget; ++i) {
    squares += std::pow(static_cast<double>(values[i]), 2);
  }
  return squares;
}

CachedThresholdOptions Options(int refresh_every) {
  CachedThresholdOptions options;
  options.density = kDensity;
  options.refresh_every = refresh_every;
  return options;
}

TEST(CachedThresholdTest, AThresholdServesItsStepsAndIsFoundAnew) {
  Random random(8);
  CachedThreshold cached = *CachedThreshold::Make(Options(50));
  for (uint64_t step = 0; step < 200; ++step) {
    const Step sent = Sent(cached, Draw(random));
    EXPECT_NEAR(sent.count, kTarget, 0.3 * kTarget);
    if (step % 50 == 0) {
      EXPECT_EQ(sent.count, kTarget);
    }
    EXPECT_EQ(cached.refreshes(), step / 50 + 1);
  }
}

// The scale drifts by 3 % a step, either way, for 150 steps.
struct Drift {
  uint64_t refreshes = 0;
  double least = 1e9;  // counts over the target
  double most = 0.0;
  double last_share = 0.0;  // of the squares that the largest would have sent
};

Drift Drifting(const CachedThresholdOptions& options, double factor) {
  Random random(9);
  CachedThreshold cached = *CachedThreshold::Make(options);
  Drift drift;
  double scale = 1.0;
  for (int step = 0; step < 150; ++step, scale *= factor) {
    const std::vector<float> values = Draw(random, scale);
    const Step sent = Sent(cached, values);
    drift.least = std::min(drift.least, sent.count / kTarget);
    drift.most = std::max(drift.most, sent.count / kTarget);
    drift.last_share = sent.squares / LargestSquares(values);
  }
  drift.refreshes = cached.refreshes();
  return drift;
}

TEST(CachedThresholdTest, ASlowDriftTripsTheGuardAndWithoutItLittleIsSent) {
  CachedThresholdOptions unguarded = Options(1000);
  unguarded.count_low = 0.0;
  unguarded.count_high = std::numeric_limits<double>::infinity();
  for (const double factor : {1.03, 1 / 1.03}) {
    SCOPED_TRACE(factor);
    const Drift guarded = Drifting(Options(1000), factor);
    EXPECT_GE(guarded.least, 0.5);
    EXPECT_LE(guarded.most, 2.0);
    EXPECT_GT(guarded.last_share, 0.6);
    // A count doubles or halves in some eight steps.
    EXPECT_GT(guarded.refreshes, 10u);
    EXPECT_LT(guarded.refreshes, 40u);
    const Drift broken = Drifting(unguarded, factor);
    EXPECT_EQ(broken.refreshes, 1u);
    // Grown, the first of nearly all; shrunk, nothing.
    EXPECT_LT(broken.last_share, 0.4);
    if (factor < 1.0) {
      EXPECT_EQ(broken.least, 0.0);
    }
  }
}

TEST(CachedThresholdTest, AJumpRefreshesAtOnceAndZerosLeaveNothingToKeep) {
  Random random(10);
  CachedThreshold cached = *CachedThreshold::Make(Options(1000));
  Sent(cached, Draw(random));
  EXPECT_EQ(Sent(cached, Draw(random, 100.0)).count, kTarget);
  EXPECT_EQ(Sent(cached, Draw(random, 0.01)).count, kTarget);
  EXPECT_EQ(cached.refreshes(), 3u);
  EXPECT_EQ(Sent(cached, std::vector<float>(kElements, 0.0f)).count, 0.0);
  EXPECT_EQ(Sent(cached, Draw(random)).count, kTarget);
  EXPECT_EQ(Sent(cached, {}).count, 0.0);
  EXPECT_EQ(cached.refreshes(), 5u);
}

TEST(CachedThresholdTest, ARefusedStepLeavesNoTrace) {
  CachedThresholdOptions unguarded = Options(20);
  unguarded.count_high = 1e9;
  for (const CachedThresholdOptions& options : {Options(20), unguarded}) {
    Random random(11);
    CachedThreshold seen = *CachedThreshold::Make(options);
    CachedThreshold spared = *CachedThreshold::Make(options);
    Workspace workspace;
    std::vector<std::byte> payload;
    std::vector<std::byte> expected;
    for (int step = 0; step < 50; ++step) {
      std::vector<float> bad = Draw(random, step % 2 == 0 ? 1.0 : 100.0);
      bad[kElements - 1] = std::nanf("");
      EXPECT_TRUE(
          absl::IsInvalidArgument(seen.Encode(bad, payload, workspace)));
      const std::vector<float> good = Draw(random);
      ASSERT_TRUE(seen.Encode(good, payload, workspace).ok());
      ASSERT_TRUE(spared.Encode(good, expected, workspace).ok());
      EXPECT_EQ(payload, expected);
    }
    EXPECT_EQ(seen.refreshes(), spared.refreshes());
  }
}

TEST(CachedThresholdTest, ExecutorsChangeNothing) {
  Random random(12);
  std::vector<float> values(300'001);
  CachedThreshold alone = *CachedThreshold::Make(Options(2));
  CachedThreshold shared = *CachedThreshold::Make(Options(2));
  BackwardExecutor backward(3);
  Workspace one;
  Workspace several(backward);
  std::vector<std::byte> payload;
  std::vector<std::byte> expected;
  for (int step = 0; step < 5; ++step) {
    for (float& value : values) value = static_cast<float>(random.Uniform());
    ASSERT_TRUE(alone.Encode(values, expected, one).ok());
    ASSERT_TRUE(shared.Encode(values, payload, several).ok());
    EXPECT_EQ(payload, expected);
  }
}

TEST(CachedThresholdTest, WithErrorFeedbackItIsDctAndLosesNothing) {
  Random random(13);
  CachedThreshold cached = *CachedThreshold::Make(Options(20));
  ErrorFeedback feedback(kElements);
  std::vector<double> imbalance(kElements);
  std::vector<float> decoded(kElements);
  std::vector<std::byte> payload;
  const auto encode = [&](std::span<const float> values,
                          std::vector<std::byte>& to, Workspace& workspace) {
    return cached.Encode(values, to, workspace);
  };
  for (int step = 0; step < 100; ++step) {
    const std::vector<float> x = Draw(random);
    ASSERT_TRUE(feedback.EncodeWith(encode, cached.reader(), x, payload).ok());
    ASSERT_TRUE(cached.reader().Decode(payload, decoded).ok());
    for (size_t i = 0; i < kElements; ++i) imbalance[i] += x[i] - decoded[i];
  }
  for (size_t i = 0; i < kElements; ++i) {
    ASSERT_NEAR(imbalance[i], feedback.error()[i], 1e-3);
  }
  EXPECT_LT(cached.refreshes(), 50u);
}

TEST(CachedThresholdTest, OptionsOutOfTheirDomainAreRefused) {
  CachedThresholdOptions never = Options(0);
  CachedThresholdOptions low = Options(1);
  low.count_low = 1.1;
  CachedThresholdOptions high = Options(1);
  high.count_high = std::nan("");
  CachedThresholdOptions dense = Options(1);
  dense.density = 1.1;
  for (const CachedThresholdOptions& options : {never, low, high, dense}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(CachedThreshold::Make(options).status()));
  }
}

}  // namespace
}  // namespace skerry::compression
