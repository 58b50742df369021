#include <cblas.h>

#include "model/cpu/gemm.h"

namespace skerry::model::cpu {
namespace {

CBLAS_TRANSPOSE ToCblas(Transpose transpose) {
  return transpose == Transpose::kYes ? CblasTrans : CblasNoTrans;
}

class OpenBlas final : public GemmBackend {
 public:
  OpenBlas() { openblas_set_num_threads(1); }

  std::string_view name() const override { return "OpenBLAS"; }

  void Multiply(const GemmShape& shape, const float* a, int lda, const float* b,
                int ldb, float beta, float* c, int ldc) const override {
    cblas_sgemm(CblasRowMajor, ToCblas(shape.transpose_a),
                ToCblas(shape.transpose_b), shape.m, shape.n, shape.k, 1.0f, a,
                lda, b, ldb, beta, c, ldc);
  }
};

}  // namespace

const GemmBackend& OpenBlasGemm() {
  static const OpenBlas backend;
  return backend;
}

}  // namespace skerry::model::cpu
