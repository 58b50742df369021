// research/stateful/factor_kernels.h
//
// Products of a matrix with a thin one: fp32 values, fp64 sums, in an order
// that no vector length changes.
#ifndef SKERRY_RESEARCH_STATEFUL_FACTOR_KERNELS_H_
#define SKERRY_RESEARCH_STATEFUL_FACTOR_KERNELS_H_

#include <cstddef>
#include <span>

namespace skerry::compression {

// A part of a row-major matrix, or of factors of which each is a row.
struct Rows {
  const float* values;
  size_t stride;  // from a row to the next
  size_t rows;
  size_t columns;
};

// The sum of a[i] b[i]: of 16 sums, the i-th product is in the (i mod 16)-th;
// at last these are added in order. Requires: equal sizes.
double Dot(std::span<const float> a, std::span<const float> b);
double Dot(std::span<const double> a, std::span<const double> b);

// sums[c] += matrix[r][c] factor[r], row after row. Requires: a value of
// `factor` for each row.
void AddTransposed(const Rows& matrix, const float* factor, double* sums);

// out[c] = sum of weights[k] factors[k][c] over the rows k of `factors`, in
// order from 0, rounded once. What fp32 cannot hold becomes its largest value
// or infinity. Requires: a weight for each row, `stride` apart.
void Combine(const Rows& factors, const float* weights, size_t stride,
             float* out);

}  // namespace skerry::compression

#endif  // SKERRY_RESEARCH_STATEFUL_FACTOR_KERNELS_H_
