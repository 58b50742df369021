#include "optimizer/outer/outer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::optimizer {
namespace {

constexpr uint64_t kSeed = 7;
constexpr size_t kDims = 9;
constexpr int kReplicas = 4;

// Replica i minimises sum_j curvature_ij / 2 * (x_j - target_ij)^2 by plain
// gradient descent. Everything is linear, so an oracle in float64 is exact to
// its own rounding.
struct Problem {
  std::vector<std::vector<double>> curvature;
  std::vector<std::vector<double>> target;
  double inner_rate = 0.1;
  int tau = 4;

  double Gradient(int replica, size_t j, double x) const {
    return curvature[replica][j] * (x - target[replica][j]);
  }

  double Loss(const std::vector<double>& x) const {
    double loss = 0.0;
    for (size_t i = 0; i < target.size(); ++i) {
      for (size_t j = 0; j < x.size(); ++j) {
        loss += curvature[i][j] / 2 * std::pow(x[j] - target[i][j], 2);
      }
    }
    return loss;
  }
};

Problem MakeProblem(int tau) {
  Random random(kSeed);
  Problem problem;
  problem.tau = tau;
  for (int i = 0; i < kReplicas; ++i) {
    std::vector<double> curvature(kDims);
    std::vector<double> target(kDims);
    for (size_t j = 0; j < kDims; ++j) {
      curvature[j] = 0.2 + 2.0 * random.Uniform();
      target[j] = random.Uniform() * 2 - 1;
    }
    problem.curvature.push_back(curvature);
    problem.target.push_back(target);
  }
  return problem;
}

// Several replicas and the rounds between them, as PROTOCOL 4.2 orders the
// boundary: contribute, fold what is due, merge.
class Cluster {
 public:
  Cluster(const OuterOptions& options, const Problem& problem,
          uint64_t rounds_total = 0)
      : options_(options),
        problem_(problem),
        rounds_total_(rounds_total),
        live_(problem.target.size(), std::vector<float>(kDims, 0.5f)),
        round_start_(live_),
        anchor_(kDims, 0.5f),
        momentum_(HasMomentum(options) ? kDims : 0) {}

  void Round() {
    std::vector<float> mean(kDims, 0.0f);
    double squared = 0;
    for (size_t i = 0; i < live_.size(); ++i) {
      InnerSteps(i);
      const auto& start = NeedsRoundStart(options_) ? round_start_[i] : anchor_;
      for (size_t j = 0; j < kDims; ++j) {
        const float delta = start[j] - live_[i][j];
        mean[j] += delta;
        squared += static_cast<double>(delta) * delta;
      }
    }
    for (float& m : mean) m /= static_cast<float>(live_.size());
    double mean_squared = 0;
    for (const float m : mean) mean_squared += static_cast<double>(m) * m;
    double share =
        OwnShare(mean_squared, static_cast<double>(live_.size()), squared);
    const bool delayed = DelayAt(options_, round_, rounds_total_) > 0;
    if (delayed) {
      std::swap(mean, pending_);
      std::swap(share, pending_share_);
    }
    share = options_.own_share.value_or(share);
    if (!mean.empty()) {
      OuterStep(options_, ScalarsAt(options_, round_, rounds_total_), mean,
                anchor_, momentum_);
    }
    before_merge_ = MeanLive();
    for (size_t i = 0; i < live_.size(); ++i) {
      MergeLive(options_, delayed ? 1 : 0, static_cast<float>(share), anchor_,
                round_start_[i], live_[i]);
      round_start_[i] = live_[i];
    }
    ++round_;
  }

  std::vector<double> MeanLive() const {
    std::vector<double> mean(kDims);
    for (const auto& live : live_) {
      for (size_t j = 0; j < kDims; ++j) mean[j] += live[j];
    }
    for (double& m : mean) m /= static_cast<double>(live_.size());
    return mean;
  }

  double Loss() const {
    return problem_.Loss(std::vector<double>(anchor_.begin(), anchor_.end()));
  }

  const std::vector<std::vector<float>>& live() const { return live_; }
  const std::vector<float>& anchor() const { return anchor_; }
  const std::vector<float>& momentum() const { return momentum_; }
  const std::vector<double>& before_merge() const { return before_merge_; }

 private:
  void InnerSteps(size_t i) {
    for (int k = 0; k < problem_.tau; ++k) {
      for (size_t j = 0; j < kDims; ++j) {
        live_[i][j] -= static_cast<float>(
            problem_.inner_rate *
            problem_.Gradient(static_cast<int>(i), j, live_[i][j]));
      }
    }
  }

  const OuterOptions options_;
  const Problem& problem_;
  const uint64_t rounds_total_;
  uint64_t round_ = 0;
  std::vector<std::vector<float>> live_;
  std::vector<std::vector<float>> round_start_;
  std::vector<float> anchor_;
  std::vector<float> momentum_;
  std::vector<float> pending_;
  double pending_share_ = 1.0;
  std::vector<double> before_merge_;
};

OuterOptions Delayed(double a, double b, MergeRule merge) {
  OuterOptions options;
  options.learning_rate = a;
  options.momentum = b;
  options.delay_rounds = 1;
  options.merge = merge;
  options.undelayed_rounds_fraction = 0.0;
  return options;
}

void ExpectNear(const std::vector<float>& a, const std::vector<double>& b) {
  for (size_t j = 0; j < a.size(); ++j) ASSERT_NEAR(a[j], b[j], 3e-6) << j;
}

// Local descent of replica i from x, in float64.
std::vector<double> Descend(const Problem& problem, int i,
                            std::vector<double> x) {
  for (int k = 0; k < problem.tau; ++k) {
    for (size_t j = 0; j < x.size(); ++j) {
      x[j] -= problem.inner_rate * problem.Gradient(i, j, x[j]);
    }
  }
  return x;
}

// T1 of the method's own checks.
TEST(OuterTest, OneInnerStepDelayedIsDelayedGradientDescent) {
  const Problem problem = MakeProblem(/*tau=*/1);
  Cluster cluster(Delayed(1.0, 0.0, MergeRule::kReplace), problem);
  std::vector<double> x(kDims, 0.5);
  std::vector<double> previous = x;
  cluster.Round();  // nothing is due at the first boundary
  for (int t = 1; t < 100; ++t) {
    std::vector<double> next = x;
    for (size_t j = 0; j < kDims; ++j) {
      for (int i = 0; i < kReplicas; ++i) {
        next[j] -= problem.inner_rate * problem.Gradient(i, j, previous[j]) /
                   kReplicas;
      }
    }
    previous = x;
    x = next;
    cluster.Round();
    ExpectNear(cluster.anchor(), x);
  }
}

// T2.
TEST(OuterTest, WithoutDelayRateOneIsAveragingOfParameters) {
  for (const int tau : {1, 5}) {
    const Problem problem = MakeProblem(tau);
    Cluster cluster(OuterOptions(), problem);
    std::vector<double> x(kDims, 0.5);
    for (int t = 0; t < 50; ++t) {
      std::vector<double> mean(kDims);
      for (int i = 0; i < kReplicas; ++i) {
        const std::vector<double> y = Descend(problem, i, x);
        for (size_t j = 0; j < kDims; ++j) mean[j] += y[j] / kReplicas;
      }
      x = mean;
      cluster.Round();
      ExpectNear(cluster.anchor(), x);
      for (const auto& live : cluster.live()) {
        EXPECT_EQ(live, cluster.anchor());
      }
    }
  }
}

// T3: the oracle averages parameters, as the published method is written.
TEST(OuterTest, PseudoGradientsGiveWhatAveragedParametersGive) {
  const Problem problem = MakeProblem(/*tau=*/6);
  const double a = 0.4;
  const double b = 0.2;
  Cluster cluster(Delayed(a, b, MergeRule::kReplace), problem);
  std::vector<double> x(kDims, 0.5);
  std::vector<double> start_before;
  std::vector<double> mean_before;
  std::vector<double> m(kDims);
  for (int t = 0; t < 100; ++t) {
    std::vector<double> mean(kDims);
    for (int i = 0; i < kReplicas; ++i) {
      const std::vector<double> y = Descend(problem, i, x);
      for (size_t j = 0; j < kDims; ++j) mean[j] += y[j] / kReplicas;
    }
    const std::vector<double> start = x;
    if (t > 0) {
      for (size_t j = 0; j < kDims; ++j) {
        m[j] = b * m[j] + (start_before[j] - mean_before[j]);
        x[j] -= a * m[j];
      }
    }
    start_before = start;
    mean_before = mean;
    cluster.Round();
    ExpectNear(cluster.anchor(), x);
  }
}

TEST(OuterTest, NesterovIsTheFormOfTorchSgd) {
  const Problem problem = MakeProblem(/*tau=*/3);
  OuterOptions options;
  options.learning_rate = 0.7;
  options.momentum = 0.9;
  options.nesterov = true;
  Cluster cluster(options, problem);
  std::vector<double> x(kDims, 0.5);
  std::vector<double> v(kDims);
  for (int t = 0; t < 100; ++t) {
    std::vector<double> delta(kDims);
    for (int i = 0; i < kReplicas; ++i) {
      const std::vector<double> y = Descend(problem, i, x);
      for (size_t j = 0; j < kDims; ++j) delta[j] += (x[j] - y[j]) / kReplicas;
    }
    for (size_t j = 0; j < kDims; ++j) {
      v[j] = 0.9 * v[j] + delta[j];
      x[j] -= 0.7 * (delta[j] + 0.9 * v[j]);
    }
    cluster.Round();
    ExpectNear(cluster.anchor(), x);
  }
}

// The fold has to be the same on every machine and however it is sharded, so it
// is compared bit by bit with arithmetic that no compiler may rearrange.
TEST(OuterTest, FoldHasTheBitsOfPlainScalarArithmeticInAnySharding) {
  Random random(kSeed);
  const size_t count = 1003;
  for (const double b : {0.0, 0.9}) {
    for (const bool nesterov : {false, true}) {
      for (const bool clip : {false, true}) {
        if (b == 0.0 && nesterov) continue;
        OuterOptions options;
        options.momentum = b;
        options.nesterov = nesterov;
        if (clip) options.clip = 0.3;
        const OuterScalars scalars{.learning_rate = 0.7f, .penalty = 1.3f};
        std::vector<float> x(count), d(count), m(b == 0.0 ? 0 : count);
        for (float& value : x) value = static_cast<float>(random.Uniform());
        for (float& value : m) value = static_cast<float>(random.Uniform());
        std::vector<float> sharded_x = x, sharded_m = m, oracle_x = x,
                           oracle_m = m;
        for (int step = 0; step < 3; ++step) {
          for (float& value : d) {
            value = static_cast<float>(random.Uniform() - 0.5);
          }
          OuterStep(options, scalars, d, x, m);
          for (const auto& [begin, end] :
               {std::pair<size_t, size_t>{0, 5}, {5, 700}, {700, count}}) {
            OuterStep(
                options, scalars, std::span(d).subspan(begin, end - begin),
                std::span(sharded_x).subspan(begin, end - begin),
                b == 0.0 ? std::span<float>()
                         : std::span(sharded_m).subspan(begin, end - begin));
          }
          for (size_t j = 0; j < count; ++j) {
            volatile float scaled = d[j] / 1.3f;
            volatile float kept = b == 0.0 ? 0.0f : 0.9f * oracle_m[j];
            volatile float buffer = b == 0.0 ? scaled : kept + scaled;
            if (clip) {
              const float unbounded = buffer;
              buffer = std::clamp(unbounded, -0.3f, 0.3f);
            }
            if (b != 0.0) oracle_m[j] = buffer;
            volatile float ahead = 0.9f * buffer;
            volatile float move = nesterov ? scaled + ahead : buffer;
            volatile float scaled_move = 0.7f * move;
            oracle_x[j] = oracle_x[j] - scaled_move;
          }
        }
        EXPECT_EQ(x, oracle_x);
        EXPECT_EQ(m, oracle_m);
        EXPECT_EQ(x, sharded_x);
        EXPECT_EQ(m, sharded_m);
      }
    }
  }
}

// T6: settings that diverge without the clip stay bounded with it.
TEST(OuterTest, ClipBoundsTheMomentumBufferAndIsNoNoOp) {
  Problem problem = MakeProblem(/*tau=*/40);
  problem.inner_rate = 0.3;
  OuterOptions options = Delayed(1.0, 0.2, MergeRule::kReplace);
  Cluster unclipped(options, problem);
  options.clip = 0.05;
  Cluster clipped(options, problem);
  for (int t = 0; t < 120; ++t) {
    unclipped.Round();
    clipped.Round();
    for (const float m : clipped.momentum()) ASSERT_LE(std::fabs(m), 0.05f);
  }
  EXPECT_LT(clipped.Loss(), 50.0);
  EXPECT_GT(unclipped.Loss(), 1e3 * clipped.Loss());
}

OuterOptions Late(std::optional<double> own_share) {
  OuterOptions options = Delayed(1.0, 0.0, MergeRule::kOwnShare);
  options.own_share = own_share;
  return options;
}

// With one replica a share of 1 is no delay at all for it.
TEST(OuterTest, OneReplicaThatKeepsAllOfItsRoundTrainsAsIfAlone) {
  Problem problem = MakeProblem(/*tau=*/4);
  problem.curvature.resize(1);
  problem.target.resize(1);
  for (const auto& share :
       {std::optional<double>(1.0), std::optional<double>()}) {
    Cluster cluster(Late(share), problem);
    std::vector<double> x(kDims, 0.5);
    for (int t = 0; t < 60; ++t) {
      x = Descend(problem, 0, x);
      cluster.Round();
      ExpectNear(cluster.live()[0], x);
    }
  }
}

TEST(OuterTest, AveragePlusLocalDeltaKeepsTheMean) {
  const Problem problem = MakeProblem(/*tau=*/4);
  Cluster cluster(Late(1.0), problem);
  for (int t = 0; t < 200; ++t) {
    cluster.Round();
    const std::vector<double> after = cluster.MeanLive();
    for (size_t j = 0; j < kDims; ++j) {
      ASSERT_NEAR(after[j], cluster.before_merge()[j], 1e-6) << t;
    }
  }
}

// The published merge discards part of the mean progress; ours has to do
// exactly that, neither more nor less.
TEST(OuterTest, ConvexMixIsDelayedAveragingOfParameters) {
  const Problem problem = MakeProblem(/*tau=*/4);
  const double xi = 0.25;
  OuterOptions options = Delayed(xi, 0.0, MergeRule::kConvexMix);
  options.mix = xi;
  Cluster cluster(options, problem);
  std::vector<std::vector<double>> w(kReplicas,
                                     std::vector<double>(kDims, 0.5));
  std::vector<double> average(kDims, 0.5);
  for (int r = 0; r < 100; ++r) {
    std::vector<double> next(kDims);
    for (int i = 0; i < kReplicas; ++i) {
      w[i] = Descend(problem, i, w[i]);
      for (size_t j = 0; j < kDims; ++j) {
        w[i][j] = xi * w[i][j] + (1 - xi) * average[j];
        next[j] += w[i][j] / kReplicas;
      }
    }
    cluster.Round();
    for (int i = 0; i < kReplicas; ++i) ExpectNear(cluster.live()[i], w[i]);
    average = next;
  }
}

// Without delay the method is Local SGD. The round after is the first that
// differs.
TEST(OuterTest, ConvexMixWithoutDelayIsLocalSgdBitForBit) {
  const Problem problem = MakeProblem(/*tau=*/4);
  OuterOptions mixing = *OuterPreset("dasgd");
  mixing.undelayed_rounds_fraction = 0.5;
  Cluster mixed(mixing, problem, /*rounds_total=*/100);
  Cluster local(*OuterPreset("local_sgd"), problem, /*rounds_total=*/100);
  for (int t = 0; t < 50; ++t) {
    mixed.Round();
    local.Round();
    ASSERT_EQ(mixed.anchor(), local.anchor()) << t;
    ASSERT_EQ(mixed.live(), local.live()) << t;
  }
  mixed.Round();
  local.Round();
  EXPECT_NE(mixed.live(), local.live());
}

// The anchor is the mean of what the replicas began their newest round with.
TEST(OuterTest, TheAnchorOfAConvexMixIsTheMeanOneRoundOld) {
  const Problem problem = MakeProblem(/*tau=*/4);
  Cluster cluster(*OuterPreset("dasgd"), problem, /*rounds_total=*/60);
  for (int t = 0; t < 60; ++t) {
    const std::vector<double> began = cluster.MeanLive();
    cluster.Round();
    if (t < 6) continue;  // undelayed
    for (size_t j = 0; j < kDims; ++j) {
      ASSERT_NEAR(cluster.anchor()[j], began[j], 1e-6) << t;
    }
  }
}

// The undelayed rounds of a delayed method have to keep the mean as well, and
// so does the change from one to the other.
TEST(OuterTest, MeanIsKeptThroughUndelayedRounds) {
  const Problem problem = MakeProblem(/*tau=*/3);
  OuterOptions options = *OuterPreset("average_plus_local_delta");
  Cluster cluster(options, problem, /*rounds_total=*/50);
  for (int t = 0; t < 50; ++t) {
    cluster.Round();
    const std::vector<double> after = cluster.MeanLive();
    for (size_t j = 0; j < kDims; ++j) {
      ASSERT_NEAR(after[j], cluster.before_merge()[j], 1e-6) << t;
    }
    if (t < 5) {
      EXPECT_EQ(cluster.live()[0], cluster.anchor());
    }
  }
}

TEST(OuterTest, TheFirstRoundsRunUndelayedAtTheirOwnRate) {
  const OuterOptions options = *OuterPreset("co2");
  EXPECT_EQ(DelayAt(options, 0, 100), 0);
  EXPECT_EQ(DelayAt(options, 9, 100), 0);
  EXPECT_EQ(DelayAt(options, 10, 100), 1);
  EXPECT_EQ(ScalarsAt(options, 9, 100).learning_rate, 1.0f);
  EXPECT_EQ(ScalarsAt(options, 10, 100).learning_rate, 0.5f);
  const OuterOptions synchronous = *OuterPreset("diloco");
  EXPECT_EQ(DelayAt(synchronous, 99, 100), 0);
  EXPECT_EQ(ScalarsAt(synchronous, 0, 100).learning_rate, 0.7f);
}

TEST(OuterTest, OnlyTheBuffersThatAreReadAreCounted) {
  EXPECT_EQ(OuterStateBytesOf(*OuterPreset("co2")).momentum, 0.0);
  EXPECT_EQ(OuterStateBytesOf(*OuterPreset("diloco")).momentum, 4.0);
  EXPECT_EQ(OuterStateBytesOf(*OuterPreset("diloco")).round_start, 0.0);
  EXPECT_EQ(OuterStateBytesOf(*OuterPreset("dasgd")).round_start, 4.0);
}

TEST(OuterTest, TheGapIsAtLeastOneAndGrowsWithTheMove) {
  EXPECT_EQ(StalenessGap(0.0, 1.0, 4), 1.0);
  EXPECT_EQ(StalenessGap(1.0, 0.0, 4), 1.0);
  EXPECT_EQ(StalenessGap(64.0, 1.0, 4), 3.0);
  OuterOptions options = *OuterPreset("co2");
  options.penalty_rule = StalenessPenalty::kDistance;
  EXPECT_EQ(ScalarsAt(options, 50, 100, 3.0).penalty, 3.0f);
  EXPECT_EQ(ScalarsAt(options, 0, 100, 3.0).penalty, 1.0f);
}

}  // namespace
}  // namespace skerry::optimizer
