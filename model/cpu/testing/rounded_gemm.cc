#include "model/cpu/testing/rounded_gemm.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace skerry::model::cpu {
namespace {

class Rounded final : public GemmBackend {
 public:
  std::string_view name() const override { return "rounded"; }
  bool multiplies_attention() const override { return true; }

  void Multiply(const GemmShape& shape, const float* a, int lda, const float* b,
                int ldb, float beta, float* c, int ldc) const override {
    const bool ta = shape.transpose_a == Transpose::kYes;
    const bool tb = shape.transpose_b == Transpose::kYes;
    for (ptrdiff_t i = 0; i < shape.m; ++i) {
      for (ptrdiff_t j = 0; j < shape.n; ++j) {
        double sum = 0;
        for (ptrdiff_t k = 0; k < shape.k; ++k) {
          const float x = ta ? a[k * lda + i] : a[i * lda + k];
          const float y = tb ? b[j * ldb + k] : b[k * ldb + j];
          sum += double{RoundToBf16(x)} * double{RoundToBf16(y)};
        }
        float& out = c[i * ldc + j];
        out = static_cast<float>(beta == 0 ? sum : double{out} + sum);
      }
    }
  }
};

}  // namespace

float RoundToBf16(float value) {
  if (std::isnan(value)) return value;
  if (std::abs(value) < std::numeric_limits<float>::min()) return 0;
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t half = 0x7fff + (bits >> 16 & 1);
  return std::bit_cast<float>((bits + half) & 0xffff0000);
}

const GemmBackend& RoundedGemm() {
  static const Rounded backend;
  return backend;
}

}  // namespace skerry::model::cpu
