// Results that are applied between two inner steps: what the loop becomes at
// either end of a round, and what it is between them, against float64.
#include <cmath>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "optimizer/outer/outer.h"

namespace skerry::optimizer {
namespace {

constexpr uint64_t kSeed = 11;
constexpr size_t kDims = 33;
constexpr int kReplicas = 3;
constexpr int kTau = 6;
constexpr int kRounds = 25;

// A quadratic for each replica, along which a step contracts.
struct Quadratic {
  std::vector<double> target;
  std::vector<double> rate;

  explicit Quadratic(Random& random) : target(kDims), rate(kDims) {
    for (size_t i = 0; i < kDims; ++i) {
      target[i] = random.Uniform() - 0.5;
      rate[i] = 0.3 * random.Uniform();
    }
  }
  template <typename T>
  void Step(std::vector<T>& live) const {
    for (size_t i = 0; i < kDims; ++i) {
      live[i] -=
          static_cast<T>(rate[i]) * (live[i] - static_cast<T>(target[i]));
    }
  }
};

std::vector<Quadratic> Draw(Random& random) {
  std::vector<Quadratic> all;
  for (int r = 0; r < kReplicas; ++r) all.emplace_back(random);
  return all;
}

// One replica of the loop in fp32, as a worker runs it.
struct Replica {
  std::vector<float> live = std::vector<float>(kDims);
  std::vector<float> base = live;

  std::vector<float> Delta() const {
    std::vector<float> delta(kDims);
    for (size_t i = 0; i < kDims; ++i) delta[i] = base[i] - live[i];
    return delta;
  }
  void Boundary(const OuterOptions& options, int delay, float share,
                const std::vector<float>& anchor) {
    MergeLive(options, delay, share, anchor, base, live);
    base = live;
  }
};

std::vector<float> Mean(const std::vector<std::vector<float>>& deltas,
                        const std::vector<int>& members) {
  std::vector<float> mean(kDims);
  for (const int r : members) {
    for (size_t i = 0; i < kDims; ++i) {
      mean[i] += deltas[static_cast<size_t>(r)][i] /
                 static_cast<float>(members.size());
    }
  }
  return mean;
}

// The anchors of a job whose results come `late` steps after their rounds;
// kTau: at the next boundary.
std::vector<std::vector<float>> Anchors(const OuterOptions& options, int late,
                                        float share) {
  Random random(kSeed);
  const std::vector<Quadratic> work = Draw(random);
  std::vector<Replica> replicas(kReplicas);
  std::vector<float> anchor(kDims);
  std::vector<std::vector<float>> all;
  std::vector<std::vector<float>> deltas;
  const auto fold = [&] {
    const std::vector<float> before = anchor;
    OuterStep(options, {}, Mean(deltas, {0, 1, 2}), anchor, {});
    all.push_back(anchor);
    return before;
  };
  for (int round = 0; round < kRounds; ++round) {
    for (int step = 0; step < kTau; ++step) {
      if (round > 0 && step == late) {
        const std::vector<float> before = fold();
        for (Replica& one : replicas) {
          MoveLive(options, true, before, anchor, one.base, one.live);
        }
      }
      for (size_t r = 0; r < kReplicas; ++r) work[r].Step(replicas[r].live);
    }
    std::vector<std::vector<float>> made;
    for (const Replica& one : replicas) made.push_back(one.Delta());
    if (round > 0 && late == kTau) fold();
    deltas = made;
    for (Replica& one : replicas) one.Boundary(options, 1, share, anchor);
  }
  return all;
}

// With the least lateness there is: live becomes the anchor before a step.
TEST(LateStepsTest, AResultThatIsThereAtOnceIsLocalSgdBitForBit) {
  Random random(kSeed);
  const std::vector<Quadratic> work = Draw(random);
  const OuterOptions options = *OuterPreset("local_sgd");
  std::vector<float> anchor(kDims);
  std::vector<std::vector<float>> all;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::vector<float>> deltas;
    for (const Quadratic& one : work) {
      std::vector<float> live = anchor;
      for (int step = 0; step < kTau; ++step) one.Step(live);
      for (size_t i = 0; i < kDims; ++i) live[i] = anchor[i] - live[i];
      deltas.push_back(std::move(live));
    }
    OuterStep(options, {}, Mean(deltas, {0, 1, 2}), anchor, {});
    all.push_back(anchor);
  }
  all.pop_back();  // its result comes after the last round
  for (const float share : {1.0f, 0.4f, 0.05f}) {
    EXPECT_EQ(Anchors(*OuterPreset("late"), 0, share), all) << share;
  }
}

TEST(LateStepsTest, AWholeRoundLateWithShareOneIsTheLocalDeltaBitForBit) {
  OuterOptions late = *OuterPreset("late");
  late.own_share = 1.0;
  Random random(kSeed);
  const std::vector<Quadratic> work = Draw(random);
  std::vector<float> anchor(kDims);
  std::vector<std::vector<float>> live(kReplicas, anchor);
  std::vector<std::vector<float>> start = live;
  std::vector<std::vector<float>> deltas;
  std::vector<std::vector<float>> all;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::vector<float>> made(kReplicas, anchor);
    for (size_t r = 0; r < kReplicas; ++r) {
      for (int step = 0; step < kTau; ++step) work[r].Step(live[r]);
      for (size_t i = 0; i < kDims; ++i) made[r][i] = start[r][i] - live[r][i];
    }
    if (round > 0) {
      OuterStep(late, {}, Mean(deltas, {0, 1, 2}), anchor, {});
      all.push_back(anchor);
    }
    deltas = made;
    for (size_t r = 0; r < kReplicas; ++r) {
      for (size_t i = 0; i < kDims; ++i) {
        live[r][i] = anchor[i] + (live[r][i] - start[r][i]);
      }
    }
    start = live;
  }
  EXPECT_EQ(Anchors(*OuterPreset("average_plus_local_delta"), kTau, 1.0f), all);
  EXPECT_EQ(Anchors(late, kTau, 1.0f), all);
}

// The rule in float64 as it is written: b = a - s d while d is on its way, and
// b = a otherwise; live is b and the progress of the round. Two results come in
// a round, at two points that are drawn; the third replica is in the second.
TEST(LateStepsTest, TheLoopFollowsItsRuleOnQuadratics) {
  Random random(kSeed + 1);
  const OuterOptions options = *OuterPreset("late");
  for (int trial = 0; trial < 20; ++trial) {
    const std::vector<Quadratic> work = Draw(random);
    const double share = 0.05 + 0.95 * random.Uniform();
    std::vector<Replica> replicas(kReplicas);
    std::vector<float> anchor(kDims);
    std::vector<double> a(kDims);
    std::vector<std::vector<double>> owed(kReplicas, a);      // s d
    std::vector<std::vector<double>> progress(kReplicas, a);  // live - b
    std::vector<std::vector<float>> deltas(kReplicas, anchor);
    std::vector<std::vector<double>> d(kReplicas, a);
    for (int round = 0; round < kRounds; ++round) {
      const auto first = static_cast<int>(random.Below(kTau));
      const int second =
          first +
          static_cast<int>(random.Below(static_cast<uint64_t>(kTau - first)));
      const auto come = [&](const std::vector<int>& members) {
        const std::vector<float> before = anchor;
        OuterStep(options, {}, Mean(deltas, members), anchor, {});
        for (size_t i = 0; i < kDims; ++i) {
          for (const int r : members) {
            a[i] -= d[static_cast<size_t>(r)][i] /
                    static_cast<double>(members.size());
          }
        }
        for (const int r : members) {
          owed[static_cast<size_t>(r)].assign(kDims, 0.0);
        }
        for (size_t r = 0; r < kReplicas; ++r) {
          const bool back = r < 2 || members.front() == 2;
          MoveLive(options, back, before, anchor, replicas[r].base,
                   replicas[r].live);
        }
      };
      for (int step = 0; step < kTau; ++step) {
        if (round > 0 && step == first) come({0, 1});
        if (round > 0 && step == second) come({2});
        for (size_t r = 0; r < kReplicas; ++r) {
          work[r].Step(replicas[r].live);
          std::vector<double> live(kDims);
          for (size_t i = 0; i < kDims; ++i) {
            live[i] = a[i] - owed[r][i] + progress[r][i];
          }
          work[r].Step(live);
          for (size_t i = 0; i < kDims; ++i) {
            progress[r][i] = live[i] - (a[i] - owed[r][i]);
          }
        }
      }
      for (size_t r = 0; r < kReplicas; ++r) {
        deltas[r] = replicas[r].Delta();
        replicas[r].Boundary(options, 1, static_cast<float>(share), anchor);
        for (size_t i = 0; i < kDims; ++i) {
          d[r][i] = -progress[r][i];
          owed[r][i] = share * d[r][i];
          progress[r][i] = 0;
          ASSERT_NEAR(replicas[r].live[i], a[i] - owed[r][i], 2e-5)
              << "trial " << trial << ", round " << round;
        }
      }
    }
  }
}

}  // namespace
}  // namespace skerry::optimizer
