// compression/stateful/power_sgd.h
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
// starts from the same e and Q. Of all members alike: whoever refuses fills its
// factor with NaN, which the average carries to the others, and what Finish
// asks of P and Q is the same for whoever has the same.
#ifndef SKERRY_COMPRESSION_STATEFUL_POWER_SGD_H_
#define SKERRY_COMPRESSION_STATEFUL_POWER_SGD_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"

namespace skerry::compression {

class PowerSgd {
 public:
  // Matrices are row-major. The first Q is drawn from `seed`, which members
  // share. Requires: 1 <= rank <= min(rows, columns).
  PowerSgd(size_t rows, size_t columns, size_t rank, uint64_t seed);

  // Errors of all three: InvalidArgument.

  // When a value is not finite, one of M is above half the largest float, or P
  // does not fit.
  absl::Status Begin(std::span<const float> gradient);
  // When an average is not finite, or Q does not fit.
  absl::Status Project();
  // When an average is not finite, or one of P Q^T is above half the largest
  // float. `approximation` is then unspecified.
  absl::Status Finish(std::span<float> approximation);

  // rows x rank and columns x rank. NaN behind a refusal.
  std::span<float> p() { return p_; }
  std::span<float> q() { return q_; }
  std::span<const float> error() const { return error_; }

  static size_t Bytes(size_t rows, size_t columns, size_t rank) {
    return sizeof(float) * rank * (rows + columns);
  }

 private:
  void DrawColumn(std::span<float> matrix, size_t column);
  void Orthonormalize();
  void KeepFactor();

  const size_t rows_;
  const size_t columns_;
  const size_t rank_;
  const uint64_t seed_;
  std::vector<float> error_;
  std::vector<float> warm_;  // the Q that the next step starts from
  uint64_t drawn_ = 0;
  // Of one step.
  uint64_t next_drawn_ = 0;
  std::vector<float> matrix_;  // M, and at last M - P Q^T
  std::vector<float> p_;
  std::vector<float> q_;
  // Of one call: sums are in fp64.
  std::vector<double> sums_;
};

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_STATEFUL_POWER_SGD_H_
