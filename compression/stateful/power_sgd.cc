#include "compression/stateful/power_sgd.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/random.h"
#include "compression/codec_errors.h"
#include "compression/cpu/finite.h"

namespace skerry::compression {
namespace {

// Of a column's own norm before its projections on the others are taken away:
// what is left below this is rounding.
constexpr double kDependent = 1e-6;
constexpr double kNormMin = 1e-30;
constexpr int kDrawsMax = 8;

}  // namespace

PowerSgd::PowerSgd(size_t rows, size_t columns, size_t rank, uint64_t seed)
    : rows_(rows),
      columns_(columns),
      rank_(rank),
      seed_(seed),
      matrix_(rows * columns),
      error_(rows * columns, 0.0f),
      p_(rows * rank),
      q_(columns * rank),
      sums_(std::max(rows, columns) * rank) {
  SKERRY_CHECK(rank >= 1 && rank <= rows && rank <= columns);
  for (size_t c = 0; c < rank; ++c) DrawColumn(q_, c);
}

// Uniform in [-1, 1): a direction needs no more.
void PowerSgd::DrawColumn(std::span<float> matrix, size_t column) {
  for (size_t i = column; i < matrix.size(); i += rank_) {
    const auto drawn = static_cast<int64_t>(RandomAt(seed_, drawn_++));
    matrix[i] = static_cast<float>(static_cast<double>(drawn) * 0x1p-63);
  }
}

absl::Status PowerSgd::Begin(std::span<const float> gradient) {
  SKERRY_CHECK(gradient.size() == matrix_.size());
  if (!cpu::AllFinite(gradient)) return NotFiniteError(gradient, "power_sgd");
  for (size_t i = 0; i < matrix_.size(); ++i) {
    matrix_[i] = gradient[i] + error_[i];
  }
  const std::span<double> sums = std::span(sums_).first(rank_);
  for (size_t r = 0; r < rows_; ++r) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (size_t c = 0; c < columns_; ++c) {
      const double value = matrix_[r * columns_ + c];
      for (size_t k = 0; k < rank_; ++k) sums[k] += value * q_[c * rank_ + k];
    }
    for (size_t k = 0; k < rank_; ++k) {
      p_[r * rank_ + k] = static_cast<float>(sums[k]);
    }
  }
  return absl::OkStatus();
}

// Gram-Schmidt, twice over for what the first pass leaves by rounding. A column
// that depends on those before it is drawn anew: for M of lower rank than ours.
void PowerSgd::Orthonormalize() {
  const std::span<double> p = std::span(sums_).first(p_.size());
  std::copy(p_.begin(), p_.end(), p.begin());
  const auto dot = [&](size_t a, size_t b) {
    double sum = 0.0;
    for (size_t r = 0; r < rows_; ++r)
      sum += p[r * rank_ + a] * p[r * rank_ + b];
    return sum;
  };
  for (size_t k = 0; k < rank_; ++k) {
    for (int draw = 0; draw < kDrawsMax; ++draw) {
      const double before = std::sqrt(dot(k, k));
      for (int pass = 0; pass < 2; ++pass) {
        for (size_t j = 0; j < k; ++j) {
          const double share = dot(k, j);
          for (size_t r = 0; r < rows_; ++r) {
            p[r * rank_ + k] -= share * p[r * rank_ + j];
          }
        }
      }
      const double norm = std::sqrt(dot(k, k));
      if (norm > kNormMin && norm > kDependent * before) {
        for (size_t r = 0; r < rows_; ++r) p[r * rank_ + k] /= norm;
        break;
      }
      DrawColumn(p_, k);
      for (size_t r = 0; r < rows_; ++r) p[r * rank_ + k] = p_[r * rank_ + k];
    }
  }
  for (size_t i = 0; i < p.size(); ++i) p_[i] = static_cast<float>(p[i]);
}

void PowerSgd::Project() {
  Orthonormalize();
  const std::span<double> sums = std::span(sums_).first(q_.size());
  std::fill(sums.begin(), sums.end(), 0.0);
  for (size_t r = 0; r < rows_; ++r) {
    for (size_t c = 0; c < columns_; ++c) {
      const double value = matrix_[r * columns_ + c];
      for (size_t k = 0; k < rank_; ++k) {
        sums[c * rank_ + k] += value * p_[r * rank_ + k];
      }
    }
  }
  for (size_t i = 0; i < q_.size(); ++i) q_[i] = static_cast<float>(sums[i]);
}

void PowerSgd::Finish(std::span<float> approximation) {
  SKERRY_CHECK(approximation.size() == matrix_.size());
  for (size_t r = 0; r < rows_; ++r) {
    for (size_t c = 0; c < columns_; ++c) {
      double sum = 0.0;
      for (size_t k = 0; k < rank_; ++k) {
        sum += static_cast<double>(p_[r * rank_ + k]) * q_[c * rank_ + k];
      }
      const size_t i = r * columns_ + c;
      approximation[i] = static_cast<float>(sum);
      error_[i] = matrix_[i] - approximation[i];
    }
  }
  // A column of zeros would never leave zero again.
  for (size_t k = 0; k < rank_; ++k) {
    double squares = 0.0;
    for (size_t c = 0; c < columns_; ++c) {
      squares += static_cast<double>(q_[c * rank_ + k]) * q_[c * rank_ + k];
    }
    if (!(std::sqrt(squares) > kNormMin)) DrawColumn(q_, k);
  }
}

}  // namespace skerry::compression
