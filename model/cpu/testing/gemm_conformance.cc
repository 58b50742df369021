#include "model/cpu/testing/gemm_conformance.h"

#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "model/cpu/testing/rounded_gemm.h"

namespace skerry::model::cpu {
namespace {

std::vector<float> RandomFloats(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.Uniform() - 0.5);
  return values;
}

struct Size {
  int m;
  int n;
  int k;
};
// The last ones are longer than any block in one direction each.
constexpr Size kSizes[] = {{1, 1, 1},    {7, 33, 5},   {65, 18, 70},
                           {31, 67, 33}, {901, 17, 3}, {2, 4099, 5},
                           {15, 3, 1567}};

// The product in float64, one element at a time; both matrices are stored with
// leading dimensions 3 wider than they need.
void CheckProduct(const GemmBackend& backend, Operands operands,
                  const GemmShape& shape, float beta) {
  const auto as_taken = [operands](float value) -> double {
    return operands == Operands::kAsGiven ? value : RoundToBf16(value);
  };
  const bool ta = shape.transpose_a == Transpose::kYes;
  const bool tb = shape.transpose_b == Transpose::kYes;
  const int lda = (ta ? shape.m : shape.k) + 3;
  const int ldb = (tb ? shape.k : shape.n) + 3;
  const int ldc = shape.n + 3;
  const auto a = RandomFloats(1, (ta ? shape.k : shape.m) * lda);
  const auto b = RandomFloats(2, (tb ? shape.n : shape.k) * ldb);
  const auto start = RandomFloats(3, shape.m * ldc);
  std::vector<float> c = start;
  backend.Multiply(shape, a.data(), lda, b.data(), ldb, beta, c.data(), ldc);
  for (int i = 0; i < shape.m; ++i) {
    for (int j = 0; j < ldc; ++j) {
      double expected = start[i * ldc + j];
      if (j < shape.n) {
        expected *= beta;
        for (int k = 0; k < shape.k; ++k) {
          expected += as_taken(ta ? a[k * lda + i] : a[i * lda + k]) *
                      as_taken(tb ? b[j * ldb + k] : b[k * ldb + j]);
        }
      }
      ASSERT_NEAR(c[i * ldc + j], expected, 1e-5) << i << " " << j;
    }
  }
}

}  // namespace

void CheckGemm(const GemmBackend& backend, Operands operands) {
  for (const Transpose ta : {Transpose::kNo, Transpose::kYes}) {
    for (const Transpose tb : {Transpose::kNo, Transpose::kYes}) {
      for (const float beta : {0.0f, 1.0f}) {
        for (const auto [m, n, k] : kSizes) {
          CheckProduct(backend, operands, {ta, tb, m, n, k}, beta);
        }
      }
    }
  }
}

}  // namespace skerry::model::cpu
