#include "research/stateful/power_sgd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "compression/testing/backward_executor.h"
#include "compression/testing/every_simd_target.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

using Matrix = std::vector<float>;

Matrix Draw(Random& random, size_t count) {
  Matrix values(count);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.5);
  }
  return values;
}

// A product of rows x rank and rank x columns.
Matrix OfRank(Random& random, size_t rows, size_t columns, size_t rank) {
  const Matrix a = Draw(random, rows * rank);
  const Matrix b = Draw(random, rank * columns);
  Matrix product(rows * columns, 0.0f);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) {
      for (size_t k = 0; k < rank; ++k) {
        product[r * columns + c] += a[r * rank + k] * b[k * columns + c];
      }
    }
  }
  return product;
}

double Norm(std::span<const float> values) {
  double sum = 0.0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

Matrix Round(PowerSgd& compressor, const Matrix& gradient) {
  EXPECT_TRUE(compressor.Begin(gradient).ok());
  EXPECT_TRUE(compressor.Project().ok());
  Matrix out(gradient.size());
  EXPECT_TRUE(compressor.Finish(out).ok());
  return out;
}

// What an all-reduce does to one factor of every member.
template <typename Factor>
void Average(std::vector<PowerSgd>& members, const Factor& factor) {
  std::vector<double> sum(factor(members[0]).size(), 0.0);
  for (PowerSgd& member : members) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += factor(member)[i];
  }
  const auto count = static_cast<double>(members.size());
  for (PowerSgd& member : members) {
    for (size_t i = 0; i < sum.size(); ++i) {
      factor(member)[i] = static_cast<float>(sum[i] / count);
    }
  }
}

TEST(PowerSgdTest, AMatrixOfItsRankOrLessIsRecovered) {
  Random random(1);
  for (const size_t rank : {0, 1, 2, 3}) {
    const Matrix gradient = OfRank(random, 20, 30, rank);
    PowerSgd compressor(20, 30, 3, 7);
    for (int round = 0; round < 2; ++round) Round(compressor, gradient);
    EXPECT_LT(Norm(compressor.error()), 1e-5 * Norm(gradient) + 1e-12) << rank;
  }
}

// Sums of several pieces of the matrix, at once and one after another.
TEST(PowerSgdTest, ALargeMatrixOfItsRankIsRecoveredToo) {
  Random random(10);
  const Matrix gradient = OfRank(random, 700, 1100, 3);
  PowerSgd compressor(700, 1100, 3, 7);
  for (int round = 0; round < 2; ++round) Round(compressor, gradient);
  EXPECT_LT(Norm(compressor.error()), 1e-5 * Norm(gradient));
}

TEST(PowerSgdTest, WhatIsGivenIsSentOrKept) {
  Random random(2);
  PowerSgd compressor(16, 24, 2, 7);
  std::vector<double> balance(16 * 24, 0.0);
  for (int round = 0; round < 50; ++round) {
    const Matrix gradient = Draw(random, balance.size());
    const Matrix out = Round(compressor, gradient);
    for (size_t i = 0; i < out.size(); ++i) balance[i] += gradient[i] - out[i];
  }
  for (size_t i = 0; i < balance.size(); ++i) {
    ASSERT_NEAR(balance[i], compressor.error()[i], 1e-4);
  }
}

// Both factors are linear in the gradient: members that average them get what
// one member with the mean gradient gets.
TEST(PowerSgdTest, AveragedFactorsAreThoseOfTheMean) {
  Random random(3);
  const size_t rows = 12;
  const size_t columns = 9;
  std::vector<PowerSgd> members(4, PowerSgd(rows, columns, 2, 7));
  PowerSgd serial(rows, columns, 2, 7);
  for (int round = 0; round < 5; ++round) {
    Matrix mean(rows * columns, 0.0f);
    for (PowerSgd& member : members) {
      const Matrix gradient = Draw(random, mean.size());
      for (size_t i = 0; i < mean.size(); ++i) mean[i] += gradient[i] / 4;
      ASSERT_TRUE(member.Begin(gradient).ok());
    }
    Average(members, [](PowerSgd& member) { return member.p(); });
    for (PowerSgd& member : members) ASSERT_TRUE(member.Project().ok());
    Average(members, [](PowerSgd& member) { return member.q(); });
    const Matrix expected = Round(serial, mean);
    for (PowerSgd& member : members) {
      Matrix out(mean.size());
      ASSERT_TRUE(member.Finish(out).ok());
      for (size_t i = 0; i < out.size(); ++i) {
        ASSERT_NEAR(out[i], expected[i], 2e-5);
      }
    }
  }
}

// On a fixed matrix without error feedback power iteration finds the best
// approximation: for singular values 4, 2, 1 and rank 1 the rest has norm
// sqrt(5).
TEST(PowerSgdTest, WarmStartsConvergeToTheBestApproximation) {
  Matrix diagonal(9, 0.0f);
  diagonal[0] = 4;
  diagonal[4] = 2;
  diagonal[8] = 1;
  PowerSgd compressor(3, 3, 1, 7);
  double first = 0.0;
  double last = 0.0;
  for (int round = 0; round < 40; ++round) {
    // Take the error out again, so that M stays what it is.
    Matrix gradient = diagonal;
    for (size_t i = 0; i < 9; ++i) gradient[i] -= compressor.error()[i];
    Round(compressor, gradient);
    last = Norm(compressor.error());
    if (round == 0) first = last;
  }
  EXPECT_GT(first, last);
  EXPECT_NEAR(last, std::sqrt(5.0), 1e-4);
}

// By powers of two, every bit of it; far beyond where M M^T M overflows, or is
// 0.
TEST(PowerSgdTest, TheScaleOfAGradientChangesNothing) {
  for (const int exponent : {-70, -1, 60, 100}) {
    PowerSgd plain(12, 9, 2, 7);
    PowerSgd scaled(12, 9, 2, 7);
    Random random(8);
    for (int round = 0; round < 5; ++round) {
      Matrix gradient = Draw(random, 12 * 9);
      Matrix expected = Round(plain, gradient);
      for (float& value : gradient) value = std::ldexp(value, exponent);
      for (float& value : expected) value = std::ldexp(value, exponent);
      EXPECT_EQ(Round(scaled, gradient), expected) << exponent;
    }
  }
}

// The matrix has more rows than are summed at once, and several groups of rows
// and columns.
TEST(PowerSgdTest, ExecutorsAndVectorLengthsChangeNothing) {
  constexpr size_t kTall = 700;
  constexpr size_t kWide = 1100;
  const auto run = [](ParallelExecutor& loops) {
    PowerSgd compressor(kTall, kWide, 3, 7, loops);
    Random random(9);
    Matrix outs;
    for (int round = 0; round < 2; ++round) {
      const Matrix out = Round(compressor, Draw(random, kTall * kWide));
      outs.insert(outs.end(), out.begin(), out.end());
    }
    outs.insert(outs.end(), compressor.error().begin(),
                compressor.error().end());
    return outs;
  };
  const Matrix usual = run(CallingThread());
  BackwardExecutor backward(3);
  EXPECT_EQ(run(backward), usual);
  cpu::OnEverySimdTarget([&] { EXPECT_EQ(run(CallingThread()), usual); });
}

TEST(PowerSgdTest, ZerosAndConstants) {
  PowerSgd compressor(8, 8, 2, 7);
  EXPECT_EQ(Norm(Round(compressor, Matrix(64, 0.0f))), 0.0);
  Round(compressor, Matrix(64, 2.0f));
  EXPECT_LT(Norm(compressor.error()), 1e-4);
  EXPECT_EQ(PowerSgd::Bytes(100, 200, 4), 4u * 4u * 300u);
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kHuge = std::numeric_limits<float>::max() / 2;

constexpr size_t kRows = 128;
constexpr size_t kColumns = 8;
constexpr size_t kCount = kRows * kColumns;

// A step of a matrix of kRows x kColumns that has to be refused, and where.
struct BadStep {
  const char* name;
  Matrix gradient;
  size_t stage;       // 0 Begin, 1 Project, 2 Finish
  float in_p = 0.0f;  // what a peer makes of the averages, unless 0
  float in_q = 0.0f;
};

std::vector<BadStep> BadSteps() {
  Random random(4);
  // This has rank 1, so that the second column is drawn anew.
  const Matrix good = OfRank(random, kRows, kColumns, 1);
  Matrix not_a_number = good;
  not_a_number[9] = kNan;
  // Every pattern of signs, one of which is that of Q.
  Matrix signs(kCount);
  // Fits into P, but not into Q.
  Matrix column(kCount, 0.0f);
  for (size_t i = 0; i < kCount; ++i) {
    const size_t r = i / kColumns;
    signs[i] = (r >> (i % kColumns) & 1) != 0 ? kHuge : -kHuge;
    if (i % kColumns == 0) column[i] = kHuge / 2;
  }
  // A direction of P that is nearly one row.
  Matrix row(kCount, 0.0f);
  std::fill_n(row.begin(), kColumns, 1e6f);
  return {{"gradient", not_a_number, 0},
          {"sum", Matrix(kCount, 1.5f * kHuge), 0},
          {"own P", signs, 0},
          {"own Q", column, 1, 1.0f},
          {"NaN in P", good, 1, kNan},
          {"infinity in P", good, 1, kInfinity},
          {"NaN in Q", good, 2, 0.0f, kNan},
          {"infinity in Q", good, 2, 0.0f, -kInfinity},
          {"product", row, 2, 0.0f, 2 * kHuge}};
}

// Whether the step was refused there, with InvalidArgument.
void ExpectRefused(PowerSgd& compressor, const BadStep& bad) {
  const auto set = [](std::span<float> factor, float value) {
    if (value == 0.0f) return;
    std::fill(factor.begin(), factor.end(), value);
  };
  Matrix out(kCount);
  absl::Status said[3];
  said[0] = compressor.Begin(bad.gradient);
  set(compressor.p(), bad.in_p);
  if (bad.stage > 0) {
    said[1] = compressor.Project();
    set(compressor.q(), bad.in_q);
  }
  if (bad.stage > 1) said[2] = compressor.Finish(out);
  for (size_t stage = 0; stage <= bad.stage; ++stage) {
    EXPECT_EQ(said[stage].ok(), stage < bad.stage) << said[stage];
  }
  EXPECT_TRUE(absl::IsInvalidArgument(said[bad.stage])) << said[bad.stage];
}

TEST(PowerSgdTest, ARefusedStepLeavesNoTrace) {
  for (const BadStep& bad : BadSteps()) {
    SCOPED_TRACE(bad.name);
    PowerSgd seen(kRows, kColumns, 2, 7);
    PowerSgd spared(kRows, kColumns, 2, 7);
    Random random(5);
    for (int round = 0; round < 4; ++round) {
      ExpectRefused(seen, bad);
      // The first gradient has rank 1, so that a column is drawn.
      const Matrix gradient =
          OfRank(random, kRows, kColumns, round == 0 ? 1 : 4);
      EXPECT_EQ(Round(seen, gradient), Round(spared, gradient));
      EXPECT_TRUE(std::ranges::equal(seen.error(), spared.error()));
    }
  }
}

TEST(PowerSgdTest, NorDoesAStepThatIsNotFinished) {
  PowerSgd seen(kRows, kColumns, 2, 7);
  PowerSgd spared(kRows, kColumns, 2, 7);
  Random random(6);
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(seen.Begin(OfRank(random, kRows, kColumns, 1)).ok());
    if (round % 2 == 0) {
      ASSERT_TRUE(seen.Project().ok());
    }
    const Matrix gradient = OfRank(random, kRows, kColumns, 1);
    EXPECT_EQ(Round(seen, gradient), Round(spared, gradient));
  }
}

// One step of all members, of which those that can take it write to `out`.
std::vector<bool> GroupRound(std::vector<PowerSgd>& members,
                             const std::vector<Matrix>& gradients,
                             std::vector<Matrix>& out) {
  std::vector<bool> took(members.size());
  for (size_t m = 0; m < members.size(); ++m) {
    (void)members[m].Begin(gradients[m]);
  }
  Average(members, [](PowerSgd& member) { return member.p(); });
  for (PowerSgd& member : members) (void)member.Project();
  Average(members, [](PowerSgd& member) { return member.q(); });
  for (size_t m = 0; m < members.size(); ++m) {
    took[m] = members[m].Finish(out[m]).ok();
  }
  return took;
}

TEST(PowerSgdTest, WhatOneMemberRefusesNoneTakes) {
  // One value is too large alone, and P is finite all the same; kHuge is not,
  // but all of them give no finite P.
  for (const auto& [bad, count] :
       std::vector<std::pair<float, size_t>>{{kNan, kCount},
                                             {1.5f * kHuge, kCount},
                                             {1.5f * kHuge, 1},
                                             {kHuge, kCount}}) {
    SCOPED_TRACE(testing::Message() << bad << " in " << count);
    std::vector<PowerSgd> seen(3, PowerSgd(kRows, kColumns, 2, 7));
    std::vector<PowerSgd> spared = seen;
    Random random(7);
    for (int round = 0; round < 4; ++round) {
      std::vector<Matrix> gradients;
      for (size_t m = 0; m < 3; ++m) gradients.push_back(Draw(random, kCount));
      std::vector<Matrix> out(3, Matrix(kCount));
      std::vector<Matrix> expected = out;
      std::vector<Matrix> spoilt = gradients;
      std::fill_n(spoilt[1].begin(), count, bad);
      EXPECT_EQ(GroupRound(seen, spoilt, out), std::vector<bool>(3, false));
      EXPECT_EQ(GroupRound(seen, gradients, out), std::vector<bool>(3, true));
      EXPECT_EQ(GroupRound(spared, gradients, expected),
                std::vector<bool>(3, true));
      EXPECT_EQ(out, expected);
      EXPECT_EQ(out[0], out[1]);
    }
  }
}

}  // namespace
}  // namespace skerry::compression
