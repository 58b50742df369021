// model/cpu/testing/gemm_conformance.h
//
// What every GEMM back end has to pass.
#ifndef SKERRY_MODEL_CPU_TESTING_GEMM_CONFORMANCE_H_
#define SKERRY_MODEL_CPU_TESTING_GEMM_CONFORMANCE_H_

#include "model/cpu/gemm.h"

namespace skerry::model::cpu {

// How a back end changes its operands before it multiplies them.
enum class Operands { kAsGiven, kRoundedToBf16 };

// Products in every orientation, of odd sizes and padded rows, against
// float64.
void CheckGemm(const GemmBackend& backend,
               Operands operands = Operands::kAsGiven);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_TESTING_GEMM_CONFORMANCE_H_
