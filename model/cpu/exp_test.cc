// The exponential of exp-inl.h, on the compiler's baseline instruction set.
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "hwy/highway.h"
// After highway.h.
#include "model/cpu/exp-inl.h"

namespace skerry::model::cpu {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

float Exp(float x) {
  const hn::CappedTag<float, 1> d;
  return hn::GetLane(HWY_NAMESPACE::FastExp(d, hn::Set(d, x)));
}

TEST(FastExpTest, RelativeErrorStaysWithinWhatItStates) {
  double worst = 0;
  for (float x = -87; x <= 88; x += 0.00173f) {
    worst = std::max(worst, std::abs(Exp(x) / std::exp(double{x}) - 1));
  }
  EXPECT_LE(worst, 3e-7);
}

TEST(FastExpTest, FarArgumentsAreTheBorders) {
  EXPECT_EQ(Exp(-1e30f), Exp(-87));
  EXPECT_EQ(Exp(1e30f), Exp(88));
  EXPECT_NEAR(Exp(0), 1, 3e-7);
}

TEST(FastExpTest, NanStaysNan) {
  EXPECT_TRUE(std::isnan(Exp(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(Exp(-std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace skerry::model::cpu
