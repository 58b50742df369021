#include "research/stateful/power_sgd.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random.h"
#include "compression/codec_errors.h"
#include "compression/parts.h"
#include "compression/top_k/cpu/finite.h"
#include "compression/top_k/cpu/select.h"
#include "research/stateful/factor_kernels.h"

namespace skerry::compression {
namespace {

// A column that keeps less than this share of its norm when its projections on
// the columns before it are taken away depends on them. What is left is
// rounding.
constexpr double kDependent = 1e-6;
constexpr double kNormMin = 1e-30;
constexpr int kDrawsMax = 8;
// Rows and columns of M that one task of M^T P sums.
constexpr size_t kSummedRows = 256;
constexpr size_t kSummedColumns = 512;
// The largest magnitude in M and in P Q^T, so that their difference is finite.
constexpr float kMagnitudeMax = std::numeric_limits<float>::max() / 2;

constexpr size_t Pieces(size_t whole, size_t piece) {
  return (whole + piece - 1) / piece;
}

// Returns the k-th of rows that are `size` long.
template <typename T>
std::span<T> RowOf(std::vector<T>& rows, size_t k, size_t size) {
  return std::span(rows).subspan(k * size, size);
}

bool AreModerate(std::span<const float> values) {
  return cpu::CountAtLeast(values, cpu::MagnitudeBits(kMagnitudeMax) + 1) == 0;
}

// Fills a factor with NaN, which the average carries to the other members.
// Returns `why`.
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

PowerSgd::PowerSgd(size_t rows, size_t columns, size_t rank, uint64_t seed,
                   ParallelExecutor& loops)
    : rows_(rows),
      columns_(columns),
      rank_(rank),
      seed_(seed),
      loops_(&loops),
      error_(rows * columns, 0.0f),
      warm_(columns * rank),
      matrix_(rows * columns),
      p_(rows * rank),
      q_(columns * rank),
      sums_(std::max(rows, columns * Pieces(rows, kSummedRows)) * rank) {
  SKERRY_CHECK(rank >= 1 && rank <= rows && rank <= columns);
  for (size_t k = 0; k < rank; ++k) Draw(RowOf(warm_, k, columns));
  drawn_ = next_drawn_;
}

template <typename Use>
void PowerSgd::ForEachRowGroup(const Use& use) {
  const size_t group = std::max<size_t>(kPartElements / columns_, 1);
  loops_->ForEach(Pieces(rows_, group), [&](size_t index) {
    use(index * group, std::min((index + 1) * group, rows_));
  });
}

// Uniform in [-1, 1): a direction needs no more.
void PowerSgd::Draw(std::span<float> column) {
  for (float& value : column) {
    const auto drawn = static_cast<int64_t>(RandomAt(seed_, next_drawn_++));
    value = static_cast<float>(static_cast<double>(drawn) * 0x1p-63);
  }
}

absl::Status PowerSgd::Begin(std::span<const float> gradient) {
  SKERRY_CHECK(gradient.size() == matrix_.size());
  next_drawn_ = drawn_;
  std::atomic<bool> moderate{true};
  ForEachRowGroup([&](size_t first, size_t end) {
    for (size_t r = first; r < end; ++r) {
      const float* given = gradient.data() + r * columns_;
      const float* __restrict kept = error_.data() + r * columns_;
      float* __restrict sum = matrix_.data() + r * columns_;
      const size_t columns = columns_;
      for (size_t c = 0; c < columns; ++c) sum[c] = given[c] + kept[c];
      const std::span<const float> row(sum, columns);
      if (!AreModerate(row)) moderate.store(false, std::memory_order_relaxed);
      for (size_t k = 0; k < rank_; ++k) {
        p_[k * rows_ + r] =
            static_cast<float>(Dot(row, RowOf(warm_, k, columns)));
      }
    }
  });
  if (moderate.load(std::memory_order_relaxed)) {
    return RefuseUnlessFinite(p_, "P");
  }
  if (!cpu::AllFinite(gradient)) {
    return Refuse(p_, NotFiniteError(gradient, "power_sgd"));
  }
  return Refuse(p_, absl::InvalidArgumentError(absl::StrCat(
                        "a gradient and its error together are above ",
                        kMagnitudeMax, ", too large for power_sgd")));
}

// Gram-Schmidt, twice over for what the first pass leaves by rounding. A column
// that depends on those before it is drawn anew: for M of lower rank than ours.
void PowerSgd::Orthonormalize() {
  std::copy(p_.begin(), p_.end(), sums_.begin());
  const auto column = [&](size_t k) { return RowOf(sums_, k, rows_); };
  const auto norm_of = [](std::span<const double> values) {
    return std::sqrt(Dot(values, values));
  };
  for (size_t k = 0; k < rank_; ++k) {
    const std::span<double> mine = column(k);
    for (int draw = 0; draw < kDrawsMax; ++draw) {
      const double before = norm_of(mine);
      for (int pass = 0; pass < 2; ++pass) {
        for (size_t j = 0; j < k; ++j) {
          const std::span<const double> other = column(j);
          const double share = Dot(std::span<const double>(mine), other);
          for (size_t r = 0; r < rows_; ++r) mine[r] -= share * other[r];
        }
      }
      const double norm = norm_of(mine);
      if (norm > kNormMin && norm > kDependent * before) {
        for (double& value : mine) value /= norm;
        break;
      }
      const std::span<float> drawn = RowOf(p_, k, rows_);
      Draw(drawn);
      std::copy(drawn.begin(), drawn.end(), mine.begin());
    }
  }
  for (size_t i = 0; i < p_.size(); ++i) p_[i] = static_cast<float>(sums_[i]);
}

// A task has some rows and columns; sums over its rows are in sums_ behind
// those of the rows before.
void PowerSgd::MultiplyTransposed() {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  const size_t heights = Pieces(rows_, kSummedRows);
  const size_t widths = Pieces(columns_, kSummedColumns);
  loops_->ForEach(heights * widths, [&](size_t task) {
    const size_t height = task / widths;
    const size_t first = height * kSummedRows;
    const size_t begin = task % widths * kSummedColumns;
    const Rows tile = {matrix_.data() + first * columns_ + begin, columns_,
                       std::min(kSummedRows, rows_ - first),
                       std::min(kSummedColumns, columns_ - begin)};
    for (size_t k = 0; k < rank_; ++k) {
      AddTransposed(tile, p_.data() + k * rows_ + first,
                    sums_.data() + height * q_.size() + k * columns_ + begin);
    }
  });
  EveryPart(q_.size(), *loops_, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      double sum = sums_[i];
      for (size_t height = 1; height < heights; ++height) {
        sum += sums_[height * q_.size() + i];
      }
      q_[i] = static_cast<float>(sum);
    }
    return true;
  });
}

absl::Status PowerSgd::Project() {
  const absl::Status averaged = RefuseUnlessFinite(p_, "P");
  if (!averaged.ok()) return Refuse(q_, averaged);
  Orthonormalize();
  MultiplyTransposed();
  return RefuseUnlessFinite(q_, "Q");
}

absl::Status PowerSgd::Finish(std::span<float> approximation) {
  SKERRY_CHECK(approximation.size() == matrix_.size());
  std::atomic<bool> moderate{true};
  ForEachRowGroup([&](size_t first, size_t end) {
    for (size_t r = first; r < end; ++r) {
      const size_t columns = columns_;
      float* const out = approximation.data() + r * columns;
      Combine({q_.data(), columns, rank_, columns}, p_.data() + r, rows_, out);
      if (!AreModerate({out, columns})) {
        moderate.store(false, std::memory_order_relaxed);
      }
      float* __restrict rest = matrix_.data() + r * columns;
      for (size_t c = 0; c < columns; ++c) rest[c] -= out[c];
    }
  });
  if (!moderate.load(std::memory_order_relaxed)) {
    return Refuse(q_, absl::InvalidArgumentError(absl::StrCat(
                          "P Q^T of power_sgd has values above ", kMagnitudeMax,
                          ", or what is not finite")));
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
    const std::span<float> column = RowOf(warm_, k, columns_);
    const double norm = std::sqrt(
        Dot(std::span<const float>(column), std::span<const float>(column)));
    if (!(norm > kNormMin)) {
      Draw(column);
      continue;
    }
    const double scale = std::ldexp(1.0, -std::ilogb(norm));
    for (float& value : column) value = static_cast<float>(value * scale);
  }
  drawn_ = next_drawn_;
}

}  // namespace skerry::compression
