#include "compression/threshold/threshold.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "compression/testing/draws.h"
#include "compression/threshold/tail_quantiles.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

TEST(TailQuantilesTest, ExponentialInvertsItsTail) {
  for (const double density : {0.25, 0.1, 1e-2, 1e-4}) {
    const double x = ExponentialTail(3.0, density);
    EXPECT_NEAR(std::exp(-x / 3.0) / density, 1.0, 1e-12);
  }
}

// P(X > x) = (1 + xi x / a)^(-1 / xi), mean a / (1 - xi), variance
// a^2 / ((1 - xi)^2 (1 - 2 xi)).
TEST(TailQuantilesTest, GeneralisedParetoInvertsItsTail) {
  for (const double xi : {-0.4, -0.1, 1e-12, 0.1, 0.3, 0.45}) {
    const double a = 2.0;
    const double mean = a / (1 - xi);
    const double variance = mean * mean / (1 - 2 * xi);
    for (const double density : {0.25, 0.1, 1e-2, 1e-4}) {
      const double x = GeneralisedParetoTail(mean, variance, density);
      const double tail = std::exp(-std::log1p(xi * x / a) / xi);
      EXPECT_NEAR(tail / density, 1.0, 1e-3) << xi << " " << density;
    }
  }
}

TEST(TailQuantilesTest, TheGammaShareIsThatOfKnownShapes) {
  for (const double x : {1e-3, 0.1, 0.9, 1.5, 3.0, 10.0, 40.0}) {
    EXPECT_NEAR(UpperGammaShare(1.0, x) / std::exp(-x), 1.0, 1e-12);
    EXPECT_NEAR(UpperGammaShare(2.0, x) / (std::exp(-x) * (1 + x)), 1.0, 1e-11);
    EXPECT_NEAR(UpperGammaShare(0.5, x) / std::erfc(std::sqrt(x)), 1.0, 1e-10);
  }
}

TEST(TailQuantilesTest, GammaInvertsItsTail) {
  for (const double log_gap : {0.05, 0.3, 0.5772156649, 1.27}) {
    const double q = log_gap;
    const double shape =
        (3 - q + std::sqrt((q - 3) * (q - 3) + 24 * q)) / (12 * q);
    for (const double density : {0.25, 0.1, 1e-2, 1e-4}) {
      const double x = GammaTail(2.0, log_gap, density);
      EXPECT_NEAR(UpperGammaShare(shape, x * shape / 2.0) / density, 1.0, 1e-3);
    }
  }
  // An exponential distribution is the gamma of shape 1, up to the estimate.
  EXPECT_NEAR(GammaTail(2.0, 0.5772156649, 0.01) / ExponentialTail(2.0, 0.01),
              1.0, 0.01);
}

constexpr size_t kCount = size_t{1} << 20;
constexpr int kSeeds = 8;
constexpr double kDensities[] = {0.1, 0.01, 1.0 / 256, 0.001};

// `count` over the target, of several seeds.
struct Spread {
  double least = HUGE_VAL;
  double most = 0.0;
  double sum = 0.0;

  void Add(double ratio) {
    least = std::min(least, ratio);
    most = std::max(most, ratio);
    sum += ratio;
  }
};

std::vector<float> Seeded(size_t distribution) {
  return Drawn(kCount, 1, kDistributions[distribution].draw);
}

// Prints what ratio_of(values, density) is of the five distributions.
template <typename RatioOf>
std::vector<Spread> SpreadsOf(const char* what, const RatioOf& ratio_of) {
  std::vector<Spread> spreads;
  for (const Distribution& distribution : kDistributions) {
    const size_t first = spreads.size();
    spreads.resize(first + std::size(kDensities));
    for (int seed = 1; seed <= kSeeds; ++seed) {
      const std::vector<float> values = Drawn(kCount, seed, distribution.draw);
      for (size_t i = 0; i < std::size(kDensities); ++i) {
        spreads[first + i].Add(ratio_of(values, kDensities[i]));
      }
    }
    std::printf("%s, %-18s", what, distribution.name);
    for (size_t i = first; i < spreads.size(); ++i) {
      std::printf("  %.3f (%.3f to %.3f)", spreads[i].sum / kSeeds,
                  spreads[i].least, spreads[i].most);
    }
    std::printf("\n");
  }
  return spreads;
}

double Ratio(const std::vector<float>& values, double density,
             const SidcoOptions& options) {
  const auto target =
      static_cast<size_t>(density * static_cast<double>(values.size()));
  return static_cast<double>(SidcoThreshold(values, target, options).count) /
         static_cast<double>(target);
}

TEST(SidcoTest, ParetoWithThreeStagesFindsTheCount) {
  for (const Spread& spread :
       SpreadsOf("threshold", [](const auto&values, double density) {
         return Ratio(values, density, {});
       })) {
    EXPECT_GE(spread.least, 0.9);
    EXPECT_LE(spread.most, 1.1);
  }
}

// A sample of 2^20 values has 262 above the threshold of density 0.001, and 1 /
// sqrt(262) is 0.06.
TEST(SidcoTest, AGuessFromASampleFindsAboutTheCount) {
  Workspace workspace;
  const std::vector<Spread> spreads =
      SpreadsOf("guess", [&](const auto& values, double density) {
        const auto target = static_cast<size_t>(density * kCount);
        const std::optional<Guess> guess =
            SidcoGuess(values, target, {}, workspace);
        EXPECT_TRUE(guess.has_value());
        const auto count = std::count_if(
            values.begin(), values.end(),
            [&](float value) { return std::fabs(value) >= guess->value; });
        return static_cast<double>(count) / static_cast<double>(target);
      });
  for (size_t i = 0; i < spreads.size(); ++i) {
    const double off =
        kDensities[i % std::size(kDensities)] < 0.002 ? 0.2 : 0.1;
    EXPECT_GE(spreads[i].least, 1 - off);
    EXPECT_LE(spreads[i].most, 1 + off);
  }
}

// In an exponential distribution, 0.8 of the magnitudes that reach a threshold
// also reach one that is larger by -log(0.8). Over a stage, the power law that
// is fitted to it is flatter than at the stage's end, so steps are longer.
TEST(SidcoTest, AGuessMovesToTheCountThatIsWanted) {
  Workspace workspace;
  const std::vector<float> values =
      Drawn(kCount, 1, [](Draws& draws) { return draws.Laplace(); });
  const std::optional<Guess> guess = SidcoGuess(values, 10000, {}, workspace);
  ASSERT_TRUE(guess.has_value());
  const float moved = Moved(*guess, 10000, 8000);
  EXPECT_NEAR((moved - guess->value) / -std::log(0.8), 1.15, 0.15);
  EXPECT_EQ(Moved(*guess, 10000, 10000), guess->value);
  EXPECT_TRUE(IsClose(9000, 10000) && IsClose(11000, 10000));
  EXPECT_FALSE(IsClose(8999, 10000) || IsClose(11001, 10000));
}

TEST(SidcoTest, AGuessSaysNothingOfShortSlicesAndOfWhatIsNotFinite) {
  Workspace workspace;
  std::vector<float> values(size_t{1} << 18, 1.0f);
  EXPECT_TRUE(SidcoGuess(values, 100, {}, workspace).has_value());
  EXPECT_FALSE(SidcoGuess(std::span<const float>(values).first(100000), 100, {},
                          workspace)
                   .has_value());
  values[0] = std::numeric_limits<float>::quiet_NaN();  // in the first run
  EXPECT_FALSE(SidcoGuess(values, 100, {}, workspace).has_value());
}

TEST(SidcoTest, EveryFitIsExactWhereItsFamilyIs) {
  const std::vector<float> laplace = Seeded(1);
  for (const SidcoFit fit : {SidcoFit::kExponential, SidcoFit::kPareto,
                             SidcoFit::kGammaThenPareto}) {
    for (const double density : {0.3, 0.1, 0.01, 0.001}) {
      EXPECT_NEAR(Ratio(laplace, density, {fit, 3, false}), 1.0, 0.1)
          << static_cast<int>(fit) << " at " << density;
    }
  }
}

// The published rule (mode -1): a mean ratio above 1.2 takes a stage away, one
// below 0.8 adds one. Over-selecting at one stage it has nothing left to do.
TEST(SidcoTest, ThePublishedAdaptationSticksOnHeavyTailsAndOursDoesNot) {
  const std::vector<float> t3 = Seeded(2);
  const double density = 0.001;
  int stages = 1;
  double ratio = 0.0;
  for (int round = 0; round < 8; ++round) {
    ratio = Ratio(t3, density, {SidcoFit::kExponential, stages, false});
    if (ratio > 1.2) stages = std::max(stages - 1, 1);
    if (ratio < 0.8) ++stages;
  }
  EXPECT_EQ(stages, 1);
  EXPECT_GT(ratio, 3.0);
  const double guarded = Ratio(t3, density, {SidcoFit::kExponential, 1, true});
  EXPECT_GE(guarded, 0.5);
  EXPECT_LE(guarded, 2.0);
}

// One entry in ten is 20 times larger: what no stage fits.
TEST(SidcoTest, TheSafeguardBringsTwoScalesWithinAFactorOfTwo) {
  const std::vector<float> mixture =
      Drawn(kCount, 6, [](Draws& draws) { return draws.TwoScales(); });
  for (const SidcoFit fit : {SidcoFit::kExponential, SidcoFit::kPareto,
                             SidcoFit::kGammaThenPareto}) {
    const double ratio = Ratio(mixture, 0.001, {fit, 3, true});
    EXPECT_GE(ratio, 0.5) << static_cast<int>(fit);
    EXPECT_LE(ratio, 2.0) << static_cast<int>(fit);
  }
  const double plain = Ratio(mixture, 0.001, {SidcoFit::kPareto, 3, false});
  EXPECT_LT(plain, 0.5);
}

TEST(SidcoTest, DegenerateSlicesHaveAThreshold) {
  const auto count = [](const std::vector<float>& values, size_t target) {
    for (const SidcoFit fit : {SidcoFit::kExponential, SidcoFit::kPareto,
                               SidcoFit::kGammaThenPareto}) {
      for (const int stages : {1, 2, 3, 5}) {
        const Threshold found =
            SidcoThreshold(values, target, {fit, stages, true});
        EXPECT_TRUE(std::isfinite(found.value));
        EXPECT_GT(found.value, 0.0f);
        EXPECT_LE(found.count, values.size());
      }
    }
    return SidcoThreshold(values, target, {}).count;
  };
  EXPECT_EQ(count(std::vector<float>(1000, 0.0f), 10), 0u);
  count(std::vector<float>(1000, -2.5f), 10);
  count(std::vector<float>(1000, std::numeric_limits<float>::denorm_min()), 10);
  count(std::vector<float>(1000, std::numeric_limits<float>::max()), 10);
  std::vector<float> outlier(1000, 0.0f);
  outlier[77] = 3.0f;
  EXPECT_EQ(count(outlier, 10), 1u);
  count({1.0f}, 1);
  count({1.0f, 2.0f, 3.0f}, 1);
  for (size_t size = 1; size < 64; ++size) {
    count(Drawn(size, size, kDistributions[0].draw), 1);
  }
}

TEST(SampledThresholdTest, TheCountIsWithinItsBand) {
  for (const Distribution& distribution : kDistributions) {
    const std::vector<float> values = Drawn(kCount, 1, distribution.draw);
    for (const double density : {0.1, 0.01, 0.001}) {
      const auto target = static_cast<size_t>(density * kCount);
      const Threshold found = SampledThreshold(values, target, 17);
      EXPECT_GE(found.count, 0.8 * target) << distribution.name;
      EXPECT_LE(found.count, 1.3 * target) << distribution.name;
      EXPECT_EQ(found.count, SampledThreshold(values, target, 17).count);
    }
  }
}

TEST(ExactThresholdTest, ExactlyTheTargetReachesItWithoutTies) {
  const std::vector<float> values = Seeded(0);
  for (const size_t target : {1, 10, 5000}) {
    const auto count =
        static_cast<double>(ExactThreshold(values, target).count);
    EXPECT_NEAR(count, target, 2);  // fp32 draws do repeat
    EXPECT_GE(count, target);
  }
}

}  // namespace
}  // namespace skerry::compression
