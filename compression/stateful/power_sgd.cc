#include "compression/stateful/power_sgd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random.h"
#include "compression/codec_errors.h"
#include "compression/cpu/finite.h"
#include "compression/cpu/select.h"

namespace skerry::compression {
namespace {

// Of a column's own norm before its projections on the others are taken away:
// what is left below this is rounding.
constexpr double kDependent = 1e-6;
constexpr double kNormMin = 1e-30;
constexpr int kDrawsMax = 8;
// Of M and of P Q^T, so that their difference is finite.
constexpr float kMagnitudeMax = std::numeric_limits<float>::max() / 2;

bool AreModerate(std::span<const float> values) {
  return cpu::CountAtLeast(values, cpu::MagnitudeBits(kMagnitudeMax) + 1) == 0;
}

// What other members average with theirs.
absl::Status Refuse(std::span<float> factor, absl::Status why) {
  std::fill(factor.begin(), factor.end(),
            std::numeric_limits<float>::quiet_NaN());
  return why;
}

absl::Status RefuseUnlessFinite(std::span<float> factor, const char* what) {
  if (cpu::AllFinite(factor)) return absl::OkStatus();
  return Refuse(factor, absl::InvalidArgumentError(
                            absl::StrCat(what, " of power_sgd is not finite")));
}

}  // namespace

PowerSgd::PowerSgd(size_t rows, size_t columns, size_t rank, uint64_t seed)
    : rows_(rows),
      columns_(columns),
      rank_(rank),
      seed_(seed),
      error_(rows * columns, 0.0f),
      warm_(columns * rank),
      matrix_(rows * columns),
      p_(rows * rank),
      q_(columns * rank),
      sums_(std::max(rows, columns) * rank) {
  SKERRY_CHECK(rank >= 1 && rank <= rows && rank <= columns);
  for (size_t c = 0; c < rank; ++c) DrawColumn(warm_, c);
  drawn_ = next_drawn_;
}

// Uniform in [-1, 1): a direction needs no more.
void PowerSgd::DrawColumn(std::span<float> matrix, size_t column) {
  for (size_t i = column; i < matrix.size(); i += rank_) {
    const auto drawn = static_cast<int64_t>(RandomAt(seed_, next_drawn_++));
    matrix[i] = static_cast<float>(static_cast<double>(drawn) * 0x1p-63);
  }
}

absl::Status PowerSgd::Begin(std::span<const float> gradient) {
  SKERRY_CHECK(gradient.size() == matrix_.size());
  next_drawn_ = drawn_;
  if (!cpu::AllFinite(gradient)) {
    return Refuse(p_, NotFiniteError(gradient, "power_sgd"));
  }
  for (size_t i = 0; i < matrix_.size(); ++i) {
    matrix_[i] = gradient[i] + error_[i];
  }
  if (!AreModerate(matrix_)) {
    return Refuse(p_, absl::InvalidArgumentError(absl::StrCat(
                          "a gradient and its error together are above ",
                          kMagnitudeMax, ", too large for power_sgd")));
  }
  const std::span<double> sums = std::span(sums_).first(rank_);
  for (size_t r = 0; r < rows_; ++r) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (size_t c = 0; c < columns_; ++c) {
      const double value = matrix_[r * columns_ + c];
      for (size_t k = 0; k < rank_; ++k)
        sums[k] += value * warm_[c * rank_ + k];
    }
    for (size_t k = 0; k < rank_; ++k) {
      p_[r * rank_ + k] = static_cast<float>(sums[k]);
    }
  }
  return RefuseUnlessFinite(p_, "P");
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

absl::Status PowerSgd::Project() {
  const absl::Status averaged = RefuseUnlessFinite(p_, "P");
  if (!averaged.ok()) return Refuse(q_, averaged);
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
  return RefuseUnlessFinite(q_, "Q");
}

absl::Status PowerSgd::Finish(std::span<float> approximation) {
  SKERRY_CHECK(approximation.size() == matrix_.size());
  for (size_t r = 0; r < rows_; ++r) {
    for (size_t c = 0; c < columns_; ++c) {
      double sum = 0.0;
      for (size_t k = 0; k < rank_; ++k) {
        sum += static_cast<double>(p_[r * rank_ + k]) * q_[c * rank_ + k];
      }
      const size_t i = r * columns_ + c;
      approximation[i] = static_cast<float>(sum);
      matrix_[i] -= approximation[i];
    }
  }
  if (!AreModerate(approximation)) {
    return Refuse(q_,
                  absl::InvalidArgumentError(absl::StrCat(
                      "P Q^T of power_sgd has values above ", kMagnitudeMax)));
  }
  std::swap(error_, matrix_);
  KeepFactor();
  return absl::OkStatus();
}

// Q has the size of M, and M Q would have its square; only the direction of a
// column counts. By a power of two, so that no bit of it changes. A column of
// zeros would never leave zero again.
void PowerSgd::KeepFactor() {
  std::swap(warm_, q_);
  for (size_t k = 0; k < rank_; ++k) {
    double squares = 0.0;
    for (size_t c = 0; c < columns_; ++c) {
      const double value = warm_[c * rank_ + k];
      squares += value * value;
    }
    const double norm = std::sqrt(squares);
    if (!(norm > kNormMin)) {
      DrawColumn(warm_, k);
      continue;
    }
    const int exponent = std::ilogb(norm);
    for (size_t c = 0; c < columns_; ++c) {
      float& value = warm_[c * rank_ + k];
      value = std::ldexp(value, -exponent);
    }
  }
  drawn_ = next_drawn_;
}

}  // namespace skerry::compression
