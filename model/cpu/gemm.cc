#include "model/cpu/gemm.h"

namespace skerry::model::cpu {

std::span<const GemmBackend* const> AllGemmBackends() {
  static const GemmBackend* const all[] = {&OneDnnGemm(), &OpenBlasGemm()};
  return all;
}

// oneDNN generates its kernels for the processor it finds; OpenBLAS has a
// table of known ones and falls back to slow kernels beside it.
const GemmBackend& DefaultGemmBackend() { return OneDnnGemm(); }

}  // namespace skerry::model::cpu
