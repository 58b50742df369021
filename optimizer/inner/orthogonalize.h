// optimizer/inner/orthogonalize.h
//
// Computes roughly the nearest matrix with equal singular values, by five steps
// of the quintic Newton-Schulz iteration (Jordan et al. 2024):
//
//   X = G / (||G|| + 1e-7),   X <- a X + (b A + c A A) X   with A = X X^T,
//   (a, b, c) = (3.4445, -4.7750, 2.0315).
//
// It takes every singular value that is not tiny into about [0.68, 1.13].
#ifndef SKERRY_OPTIMIZER_INNER_ORTHOGONALIZE_H_
#define SKERRY_OPTIMIZER_INNER_ORTHOGONALIZE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "base/executor.h"
#include "optimizer/inner/matrix_products.h"

namespace skerry::optimizer {

class Orthogonalizer {
 public:
  // For matrices of up to these sizes. `products` outlive it.
  Orthogonalizer(size_t elements_max, size_t shorter_side_max,
                 const MatrixProducts& products);

  // Replaces the row-major `matrix`; zero stays zero. Nothing is allocated.
  // Products are spread over the executor's threads by rows.
  void Run(std::span<float> matrix, int rows, int columns,
           ParallelExecutor& executor);

 private:
  void Multiply(bool transpose_b, int m, int n, int k, const float* a,
                const float* b, float* c, ParallelExecutor& executor) const;
  // x is m x n with m <= n.
  void Iterate(int m, int n, ParallelExecutor& executor);

  const MatrixProducts& products_;
  std::vector<float> x_;
  std::vector<float> product_;
  std::vector<float> gram_;
  std::vector<float> gram_squared_;
};

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_ORTHOGONALIZE_H_
