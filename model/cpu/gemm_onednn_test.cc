#include "gtest/gtest.h"
#include "model/cpu/gemm.h"
#include "model/cpu/testing/gemm_conformance.h"

namespace skerry::model::cpu {
namespace {

TEST(OneDnnGemmTest, MultipliesInEveryOrientation) { CheckGemm(OneDnnGemm()); }

}  // namespace
}  // namespace skerry::model::cpu
