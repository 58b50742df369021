#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include "base/check.h"
#include "model/cpu/gemm.h"

namespace skerry::model::cpu {
namespace {

char ToDnnl(Transpose transpose) {
  return transpose == Transpose::kYes ? 'T' : 'N';
}

class OneDnn final : public GemmBackend {
 public:
  std::string_view name() const override { return "oneDNN"; }

  void Multiply(const GemmShape& shape, const float* a, int lda, const float* b,
                int ldb, float beta, float* c, int ldc) const override {
    // Debian's oneDNN takes its width from OpenMP, which keeps it per thread.
    thread_local const bool narrowed = [] {
      omp_set_num_threads(1);
      return true;
    }();
    static_cast<void>(narrowed);
    const dnnl_status_t status = dnnl_sgemm(
        ToDnnl(shape.transpose_a), ToDnnl(shape.transpose_b), shape.m, shape.n,
        shape.k, 1.0f, a, lda, b, ldb, beta, c, ldc);
    SKERRY_CHECK(status == dnnl_success);
  }
};

}  // namespace

const GemmBackend& OneDnnGemm() {
  static const OneDnn backend;
  return backend;
}

}  // namespace skerry::model::cpu
