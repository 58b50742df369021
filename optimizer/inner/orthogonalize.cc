#include "optimizer/inner/orthogonalize.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "optimizer/inner/clip.h"

namespace skerry::optimizer {
namespace {

constexpr int kSteps = 5;
constexpr float kA = 3.4445f;
constexpr float kB = -4.7750f;
constexpr float kC = 2.0315f;
constexpr double kEpsilon = 1e-7;
// Squares of this side fit the first-level cache, twice.
constexpr int kTile = 32;

// `to` (columns x rows) = scale * `from` (rows x columns), transposed.
void Transpose(const float* from, int rows, int columns, float scale,
               float* to) {
  for (int row = 0; row < rows; row += kTile) {
    for (int column = 0; column < columns; column += kTile) {
      const int row_end = std::min(rows, row + kTile);
      const int column_end = std::min(columns, column + kTile);
      for (int j = column; j < column_end; ++j) {
        for (int i = row; i < row_end; ++i) {
          to[size_t(j) * rows + i] = scale * from[size_t(i) * columns + j];
        }
      }
    }
  }
}

}  // namespace

Orthogonalizer::Orthogonalizer(size_t elements_max, size_t shorter_side_max,
                               const MatrixProducts& products)
    : products_(products),
      x_(elements_max),
      product_(elements_max),
      gram_(shorter_side_max * shorter_side_max),
      gram_squared_(shorter_side_max * shorter_side_max) {}

void Orthogonalizer::Run(std::span<float> matrix, int rows, int columns,
                         ParallelExecutor& executor) {
  SKERRY_CHECK(matrix.size() == size_t(rows) * size_t(columns) &&
               matrix.size() <= x_.size());
  const auto scale =
      static_cast<float>(1 / (GlobalNorm(matrix, executor) + kEpsilon));
  if (rows > columns) {
    Transpose(matrix.data(), rows, columns, scale, x_.data());
    Iterate(columns, rows, executor);
    Transpose(x_.data(), columns, rows, 1, matrix.data());
    return;
  }
  std::transform(matrix.begin(), matrix.end(), x_.begin(),
                 [scale](float value) { return scale * value; });
  Iterate(rows, columns, executor);
  std::copy_n(x_.begin(), matrix.size(), matrix.begin());
}

void Orthogonalizer::Iterate(int m, int n, ParallelExecutor& executor) {
  SKERRY_CHECK(size_t(m) * size_t(m) <= gram_.size());
  const size_t square = size_t(m) * size_t(m);
  const size_t elements = size_t(m) * size_t(n);
  for (int step = 0; step < kSteps; ++step) {
    Multiply(true, m, m, n, x_.data(), x_.data(), gram_.data(), executor);
    // The Gram matrix is its own transpose.
    Multiply(true, m, m, m, gram_.data(), gram_.data(), gram_squared_.data(),
             executor);
    for (size_t i = 0; i < square; ++i) {
      gram_[i] = kB * gram_[i] + kC * gram_squared_[i];
    }
    Multiply(false, m, n, m, gram_.data(), x_.data(), product_.data(),
             executor);
    for (size_t i = 0; i < elements; ++i) {
      x_[i] = kA * x_[i] + product_[i];
    }
  }
}

void Orthogonalizer::Multiply(bool transpose_b, int m, int n, int k,
                              const float* a, const float* b, float* c,
                              ParallelExecutor& executor) const {
  const int parts = std::min(m, executor.thread_count());
  executor.ForEach(static_cast<size_t>(parts), [&](size_t part) {
    const int begin = static_cast<int>(part * size_t(m) / size_t(parts));
    const int end = static_cast<int>((part + 1) * size_t(m) / size_t(parts));
    products_.Multiply(transpose_b, end - begin, n, k, a + size_t(begin) * k, b,
                       c + size_t(begin) * n);
  });
}

}  // namespace skerry::optimizer
