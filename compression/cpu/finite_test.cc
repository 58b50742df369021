#include "compression/cpu/finite.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace skerry::compression::cpu {
namespace {

TEST(FiniteTest, OneThatIsNotIsSeenWhereverItIsOnEveryInstructionSet) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const size_t size : {0, 1, 7, 64, 65, 200}) {
      std::vector<float> values(size, std::numeric_limits<float>::max());
      EXPECT_TRUE(AllFinite(values)) << size;
      for (size_t i = 0; i < size; ++i) {
        for (const float bad : {std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::quiet_NaN()}) {
          values[i] = bad;
          EXPECT_FALSE(AllFinite(values)) << i << " of " << size;
        }
        values[i] = -0.0f;
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace skerry::compression::cpu
