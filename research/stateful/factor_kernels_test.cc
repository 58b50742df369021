#include "research/stateful/factor_kernels.h"

#include <cmath>
#include <span>
#include <vector>

#include "base/random.h"
#include "compression/testing/every_simd_target.h"
#include "gtest/gtest.h"

namespace skerry::compression {
namespace {

// Draws values of many magnitudes, so that another order of sums shows.
std::vector<float> Draw(size_t count) {
  Random random(17);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.5);
    value = std::ldexp(value, -static_cast<int>(random.Below(20)));
  }
  return values;
}

constexpr size_t kSizes[] = {0, 1, 7, 15, 16, 17, 100, 1031};

TEST(FactorKernelsTest, DotAddsSixteenSumsInOrderOnEverySimdTarget) {
  for (const size_t count : kSizes) {
    const std::vector<float> drawn = Draw(2 * count);
    const auto a = std::span(drawn).first(count);
    const auto b = std::span(drawn).last(count);
    double sums[16] = {};
    for (size_t i = 0; i < count; ++i) {
      sums[i % 16] += static_cast<double>(a[i]) * b[i];
    }
    double expected = 0.0;
    for (const double sum : sums) expected += sum;
    const std::vector<double> wide_a(a.begin(), a.end());
    const std::vector<double> wide_b(b.begin(), b.end());
    cpu::OnEverySimdTarget([&] {
      EXPECT_EQ(Dot(a, b), expected) << count;
      EXPECT_EQ(Dot(std::span(wide_a), std::span(wide_b)), expected) << count;
    });
  }
}

TEST(FactorKernelsTest, TransposedProductsAreAddedRowAfterRow) {
  constexpr size_t kStride = 1050;
  constexpr size_t kRows = 7;
  const std::vector<float> matrix = Draw(kRows * kStride);
  const std::vector<float> factor = Draw(kRows);
  for (const size_t columns : kSizes) {
    for (size_t rows = 0; rows <= kRows; ++rows) {
      std::vector<double> expected(columns, 0.25);
      for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < columns; ++c) {
          expected[c] += static_cast<double>(matrix[r * kStride + c]) *
                         static_cast<double>(factor[r]);
        }
      }
      cpu::OnEverySimdTarget([&] {
        std::vector<double> sums(columns, 0.25);
        AddTransposed({matrix.data(), kStride, rows, columns}, factor.data(),
                      sums.data());
        EXPECT_EQ(sums, expected) << rows << " x " << columns;
      });
    }
  }
}

TEST(FactorKernelsTest, CombinedFactorsAreRoundedOnce) {
  constexpr size_t kStride = 1050;
  constexpr size_t kRank = 5;
  constexpr size_t kApart = 3;
  const std::vector<float> factors = Draw(kRank * kStride);
  const std::vector<float> weights = Draw(kRank * kApart);
  for (const size_t columns : kSizes) {
    for (size_t rank = 0; rank <= kRank; ++rank) {
      std::vector<float> expected(columns);
      for (size_t c = 0; c < columns; ++c) {
        double sum = 0.0;
        for (size_t k = 0; k < rank; ++k) {
          sum += static_cast<double>(factors[k * kStride + c]) *
                 static_cast<double>(weights[k * kApart]);
        }
        expected[c] = static_cast<float>(sum);
      }
      cpu::OnEverySimdTarget([&] {
        std::vector<float> out(columns, 7.0f);
        Combine({factors.data(), kStride, rank, columns}, weights.data(),
                kApart, out.data());
        EXPECT_EQ(out, expected) << rank << " x " << columns;
      });
    }
  }
}

}  // namespace
}  // namespace skerry::compression
