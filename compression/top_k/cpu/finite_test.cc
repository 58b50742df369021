#include "compression/top_k/cpu/finite.h"

#include <limits>
#include <vector>

#include "compression/testing/every_simd_target.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

TEST(FiniteTest, OneThatIsNotIsSeenWhereverItIsOnEveryInstructionSet) {
  OnEverySimdTarget([&] {
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
  });
}

}  // namespace
}  // namespace skerry::compression::cpu
