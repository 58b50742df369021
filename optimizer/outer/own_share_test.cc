// What a late merge keeps of a round whose result is on its way.
#include <cmath>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "optimizer/outer/outer.h"

namespace skerry::optimizer {
namespace {

constexpr uint64_t kSeed = 7;
constexpr size_t kDims = 9;
constexpr int kReplicas = 4;

TEST(OwnShareTest, TheIsTheLeastSquaresGuessOfTheMean) {
  Random random(kSeed);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> weights(kReplicas);
    std::vector<std::vector<double>> deltas(kReplicas,
                                            std::vector<double>(kDims));
    std::vector<double> mean(kDims);
    double total = 0;
    for (int i = 0; i < kReplicas; ++i) {
      weights[i] = 0.5 + random.Uniform();
      total += weights[i];
      for (size_t j = 0; j < kDims; ++j) {
        deltas[i][j] = random.Uniform() - 0.3;
        mean[j] += weights[i] * deltas[i][j];
      }
    }
    double mean_squared = 0;
    double weighted_squared = 0;
    for (double& m : mean) {
      m /= total;
      mean_squared += m * m;
    }
    const auto error = [&](double share) {
      double sum = 0;
      for (int i = 0; i < kReplicas; ++i) {
        for (size_t j = 0; j < kDims; ++j) {
          sum += weights[i] * std::pow(mean[j] - share * deltas[i][j], 2);
        }
      }
      return sum;
    };
    for (int i = 0; i < kReplicas; ++i) {
      for (const double d : deltas[i]) weighted_squared += weights[i] * d * d;
    }
    const double share = OwnShare(mean_squared, total, weighted_squared);
    EXPECT_LT(share, 1.0);
    EXPECT_LT(error(share), error(share + 0.01));
    EXPECT_LT(error(share), error(share - 0.01));
  }
}

TEST(OwnShareTest, TheIsOneAmongEqualsAndAPartAmongStrangers) {
  EXPECT_EQ(OwnShare(4.0, 3.0, 3 * 4.0), 1.0);
  // Three at right angles: the mean has a third of one's squared length.
  EXPECT_NEAR(OwnShare(4.0 / 3, 3.0, 3 * 4.0), 1.0 / 3, 1e-12);
  EXPECT_EQ(OwnShare(1e-9, 3.0, 12.0), kOwnShareMin);
  EXPECT_EQ(OwnShare(0.0, 3.0, 12.0), 1.0);
  EXPECT_EQ(OwnShare(1.0, 3.0, 0.0), 1.0);
  EXPECT_EQ(OwnShare(std::nan(""), 3.0, 1.0), 1.0);
}

TEST(OwnShareTest, ALateMergeIsTheAnchorWithAShareOfWhatIsOnItsWay) {
  const OuterOptions options = *OuterPreset("late");
  const std::vector<float> anchor = {10, 20};
  const std::vector<float> start = {1, 2};
  std::vector<float> live = {3, -2};
  MergeLive(options, 1, 0.25f, anchor, start, live);
  EXPECT_EQ(live, (std::vector<float>{10.5f, 19.0f}));
  MergeLive(options, 0, 0.25f, anchor, start, live);
  EXPECT_EQ(live, anchor);
}

}  // namespace
}  // namespace skerry::optimizer
