#include "model/cpu/gemm.h"

#include <algorithm>
#include <string_view>

#include "gtest/gtest.h"

namespace skerry::model::cpu {
namespace {

TEST(GemmTest, TheDefaultIsOneOfAll) {
  const auto all = AllGemmBackends();
  EXPECT_NE(std::find(all.begin(), all.end(), &DefaultGemmBackend()),
            all.end());
}

TEST(GemmTest, BackendsHaveNamesOfTheirOwn) {
  EXPECT_NE(OpenBlasGemm().name(), OneDnnGemm().name());
}

}  // namespace
}  // namespace skerry::model::cpu
