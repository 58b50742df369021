// model/cpu/gemm.h
//
// Matrix products, each on one thread. Callers run several at once on parts of
// a product. A library computes products of fp32. Which library is fastest
// differs by machine, so it is chosen from measurements (gemm_choice.h).
#ifndef SKERRY_MODEL_CPU_GEMM_H_
#define SKERRY_MODEL_CPU_GEMM_H_

#include <span>
#include <string_view>

namespace skerry::model::cpu {

enum class Transpose { kNo, kYes };

// C = op(A) op(B) + beta C, all row-major fp32. op(A) is m x k, op(B) k x n, C
// m x n; a matrix to be transposed lies as k x m or n x k. Leading dimensions
// count floats from one stored row to the next. A and B do not overlap C.
struct GemmShape {
  Transpose transpose_a = Transpose::kNo;
  Transpose transpose_b = Transpose::kNo;
  int m = 0;
  int n = 0;
  int k = 0;
};

class GemmBackend {
 public:
  virtual ~GemmBackend() = default;
  virtual std::string_view name() const = 0;
  // Whether attention's products are its as well; else they are fp32, by a
  // kernel of their own.
  virtual bool multiplies_attention() const { return false; }
  // `beta` is 0, and then C need not be initialized, or 1. May be called from
  // several threads at once. Equal arguments give equal bits.
  virtual void Multiply(const GemmShape& shape, const float* a, int lda,
                        const float* b, int ldb, float beta, float* c,
                        int ldc) const = 0;
};

// Sets OpenBLAS to one thread for the whole process at the first call.
const GemmBackend& OpenBlasGemm();
// Sets OpenMP to one thread for every thread that multiplies with it.
const GemmBackend& OneDnnGemm();

// Rounds both operands to bf16 and sums their products in fp32, with the
// processor's own dot product. Null where the processor has none.
const GemmBackend* Bf16Gemm();

// Returns the back ends that do not round their operands.
std::span<const GemmBackend* const> AllGemmBackends();

// What is used when nobody measured.
const GemmBackend& DefaultGemmBackend();

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_GEMM_H_
