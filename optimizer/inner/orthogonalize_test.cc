#include "optimizer/inner/orthogonalize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "optimizer/inner/testing/plain_products.h"

namespace skerry::optimizer {
namespace {

using Matrix = std::vector<float>;

Matrix RandomMatrix(uint64_t seed, int rows, int columns) {
  Random random(seed);
  Matrix matrix(size_t(rows) * size_t(columns));
  for (float& v : matrix) v = static_cast<float>(random.Uniform() - 0.5);
  return matrix;
}

Matrix Orthogonalized(Matrix matrix, int rows, int columns,
                      ParallelExecutor& executor) {
  const PlainProducts products;
  Orthogonalizer orthogonalizer(matrix.size(), size_t(std::min(rows, columns)),
                                products);
  orthogonalizer.Run(matrix, rows, columns, executor);
  return matrix;
}

Matrix Orthogonalized(Matrix matrix, int rows, int columns) {
  InlineExecutor executor;
  return Orthogonalized(std::move(matrix), rows, columns, executor);
}

// Ascending, by Jacobi's rotations of M M^T in float64.
std::vector<double> SingularValues(const Matrix& matrix, int rows,
                                   int columns) {
  const auto n = static_cast<size_t>(rows);
  std::vector<double> g(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      for (size_t k = 0; k < size_t(columns); ++k) {
        g[i * n + j] += double{matrix[i * size_t(columns) + k]} *
                        matrix[j * size_t(columns) + k];
      }
    }
  }
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (size_t p = 0; p < n; ++p) {
      for (size_t q = p + 1; q < n; ++q) {
        if (std::abs(g[p * n + q]) < 1e-15) continue;
        const double angle =
            0.5 * std::atan2(2 * g[p * n + q], g[q * n + q] - g[p * n + p]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (size_t k = 0; k < n; ++k) {
          const double a = g[k * n + p], b = g[k * n + q];
          g[k * n + p] = c * a - s * b;
          g[k * n + q] = s * a + c * b;
        }
        for (size_t k = 0; k < n; ++k) {
          const double a = g[p * n + k], b = g[q * n + k];
          g[p * n + k] = c * a - s * b;
          g[q * n + k] = s * a + c * b;
        }
      }
    }
  }
  std::vector<double> values;
  for (size_t i = 0; i < n; ++i) {
    values.push_back(std::sqrt(std::max(0.0, g[i * n + i])));
  }
  std::sort(values.begin(), values.end());
  return values;
}

TEST(OrthogonalizeTest, SingularValuesBecomeNearlyEqual) {
  for (const auto& [rows, columns] :
       {std::pair(16, 16), {13, 40}, {31, 33}, {5, 200}}) {
    const Matrix matrix = RandomMatrix(7, rows, columns);
    const auto before = SingularValues(matrix, rows, columns);
    const auto after =
        SingularValues(Orthogonalized(matrix, rows, columns), rows, columns);
    // A square random matrix has singular values near 0, which come up less.
    const double least = before.front() / before.back() > 0.02 ? 0.65 : 0.05;
    EXPECT_GE(after.front(), least) << rows << " x " << columns;
    EXPECT_LE(after.back(), 1.22) << rows << " x " << columns;
  }
}

TEST(OrthogonalizeTest, AVectorGetsALengthNearOne) {
  const Matrix vector = Orthogonalized(RandomMatrix(3, 1, 77), 1, 77);
  const double length = SingularValues(vector, 1, 77)[0];
  EXPECT_GE(length, 0.68);
  EXPECT_LE(length, 1.13);
}

TEST(OrthogonalizeTest, WhatHasNoRankKeepsNone) {
  // Two equal rows and a third: rank 2.
  Matrix matrix = RandomMatrix(5, 3, 50);
  std::copy_n(matrix.begin(), 50, matrix.begin() + 50);
  const auto values = SingularValues(Orthogonalized(matrix, 3, 50), 3, 50);
  EXPECT_LE(values[0], 1e-3);
  EXPECT_GE(values[1], 0.65);
  EXPECT_EQ(Orthogonalized(Matrix(150), 3, 50), Matrix(150));
}

TEST(OrthogonalizeTest, TransposingBeforeIsTransposingAfter) {
  constexpr int kRows = 37, kColumns = 70;
  const Matrix wide = RandomMatrix(9, kRows, kColumns);
  Matrix tall(wide.size());
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      tall[j * kRows + i] = wide[i * kColumns + j];
    }
  }
  const Matrix from_wide = Orthogonalized(wide, kRows, kColumns);
  const Matrix from_tall = Orthogonalized(tall, kColumns, kRows);
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      ASSERT_NEAR(from_tall[j * kRows + i], from_wide[i * kColumns + j], 1e-6);
    }
  }
}

class SeveralThreads final : public ParallelExecutor {
 public:
  int thread_count() const override { return 3; }
  void ForEach(size_t count, absl::FunctionRef<void(size_t)> body) override {
    for (size_t i = count; i-- > 0;) body(i);
  }
};

TEST(OrthogonalizeTest, PartsOfAProductMakeTheWhole) {
  SeveralThreads several;
  for (const int rows : {1, 2, 3, 16, 29}) {
    const Matrix matrix = RandomMatrix(11, rows, 31);
    EXPECT_EQ(Orthogonalized(matrix, rows, 31, several),
              Orthogonalized(matrix, rows, 31))
        << rows;
  }
}

}  // namespace
}  // namespace skerry::optimizer
