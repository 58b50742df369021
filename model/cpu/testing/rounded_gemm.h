// model/cpu/testing/rounded_gemm.h
//
// A reference for bf16 products: it rounds operands one by one and sums in
// float64.
#ifndef SKERRY_MODEL_CPU_TESTING_ROUNDED_GEMM_H_
#define SKERRY_MODEL_CPU_TESTING_ROUNDED_GEMM_H_

#include "model/cpu/gemm.h"

namespace skerry::model::cpu {

// To the nearest, to the even one of two; zero for what is too small to be
// normal.
float RoundToBf16(float value);

const GemmBackend& RoundedGemm();

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_TESTING_ROUNDED_GEMM_H_
