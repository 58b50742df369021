#include "compression/stateful/power_sgd.h"

#include <cmath>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
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
  compressor.Project();
  Matrix out(gradient.size());
  compressor.Finish(out);
  return out;
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
    const auto average = [&](auto factor) {
      std::vector<double> sum(factor(members[0]).size(), 0.0);
      for (PowerSgd& member : members) {
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += factor(member)[i];
      }
      for (PowerSgd& member : members) {
        for (size_t i = 0; i < sum.size(); ++i) {
          factor(member)[i] = static_cast<float>(sum[i] / 4);
        }
      }
    };
    average([](PowerSgd& member) { return member.p(); });
    for (PowerSgd& member : members) member.Project();
    average([](PowerSgd& member) { return member.q(); });
    const Matrix expected = Round(serial, mean);
    for (PowerSgd& member : members) {
      Matrix out(mean.size());
      member.Finish(out);
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

TEST(PowerSgdTest, ZerosConstantsAndNotANumber) {
  PowerSgd compressor(8, 8, 2, 7);
  EXPECT_EQ(Norm(Round(compressor, Matrix(64, 0.0f))), 0.0);
  Round(compressor, Matrix(64, 2.0f));
  EXPECT_LT(Norm(compressor.error()), 1e-4);
  Matrix bad(64, 1.0f);
  bad[9] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(absl::IsInvalidArgument(compressor.Begin(bad)));
  EXPECT_EQ(PowerSgd::Bytes(100, 200, 4), 4u * 4u * 300u);
}

}  // namespace
}  // namespace skerry::compression
