// research/stateful/power_sgd.h
//
// PowerSGD (arXiv 1905.13727): a matrix as P Q^T of small rank, by one step of
// power iteration a round that starts from the last round's Q. Both factors are
// linear in the gradient, so members average them; 4 rank (rows + columns)
// bytes travel.
//
//   Begin(G)     M = G + e,  P = M Q          average p() over the members
//   Project()    orthonormal P,  Q = M^T P    average q() over the members
//   Finish(out)  out = P Q^T,  e = M - out
//
// A step that is refused, or not finished, leaves no trace: the next Begin
// starts from the same e and Q. All members refuse a step, or none. A member
// that refuses fills its factor with NaN, which the average carries to the
// others, and Finish decides by P and Q alone, which all members share.
//
// Sums are in fp64 and in one order, whatever the executor and the vector
// length. M Q is summed along a row as in Dot, and so is Gram-Schmidt. M^T P is
// summed down 256 rows at a time and then over these sums, both from the first
// on.
#ifndef SKERRY_RESEARCH_STATEFUL_POWER_SGD_H_
#define SKERRY_RESEARCH_STATEFUL_POWER_SGD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/executor.h"
#include "compression/workspace.h"

namespace skerry::compression {

class PowerSgd {
 public:
  // Matrices are row-major. The first Q is drawn from `seed`, which members
  // share. Requires: 1 <= rank <= min(rows, columns); `loops` outlives this,
  // and nobody else runs loops on it during a call.
  PowerSgd(size_t rows, size_t columns, size_t rank, uint64_t seed,
           ParallelExecutor& loops = CallingThread());

  // Errors of all three: InvalidArgument.

  // When a value is not finite, one of M is above half the largest float, or P
  // does not fit.
  absl::Status Begin(std::span<const float> gradient);
  // When an average is not finite, or Q does not fit.
  absl::Status Project();
  // When an average is not finite, or one of P Q^T is above half the largest
  // float. `approximation` is then unspecified.
  absl::Status Finish(std::span<float> approximation);

  // rank x rows and rank x columns: a column of P or Q is a row here. NaN
  // behind a refusal.
  std::span<float> p() { return p_; }
  std::span<float> q() { return q_; }
  std::span<const float> error() const { return error_; }

  static size_t Bytes(size_t rows, size_t columns, size_t rank) {
    return sizeof(float) * rank * (rows + columns);
  }

 private:
  // Calls use(first, end) for groups of rows that make up the matrix.
  template <typename Use>
  void ForEachRowGroup(const Use& use);

  void Draw(std::span<float> column);
  void Orthonormalize();
  void MultiplyTransposed();
  void KeepFactor();

  const size_t rows_;
  const size_t columns_;
  const size_t rank_;
  const uint64_t seed_;
  ParallelExecutor* const loops_;
  std::vector<float> error_;
  std::vector<float> warm_;  // the Q that the next step starts from
  uint64_t drawn_ = 0;
  // The state of one step.
  uint64_t next_drawn_ = 0;
  std::vector<float> matrix_;  // M, and at last M - P Q^T
  std::vector<float> p_;
  std::vector<float> q_;
  // The memory of one call.
  std::vector<double> sums_;
};

}  // namespace skerry::compression

#endif  // SKERRY_RESEARCH_STATEFUL_POWER_SGD_H_
