#include "model/cpu/rotate.h"

#include <cmath>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "model/spec/rotary.h"

namespace skerry::model::cpu {
namespace {

constexpr int kColumns = 7;
constexpr int kRows = 2;
constexpr int kHeads = 3;

std::vector<float> RandomFloats(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(2 * random.Uniform() - 1);
  return values;
}

class RotateTest : public ::testing::TestWithParam<int> {
 protected:
  int half() const { return GetParam() / 2; }
  RotateShape Shape(int first, int tokens) const {
    return {tokens, first, kColumns, kHeads, GetParam()};
  }
  void SetUp() override {
    config_.theta = 300;
    config_.attention_factor = 1.25;
    cosines_.resize(kColumns * half());
    sines_.resize(cosines_.size());
    FillRotaryTables(config_, GetParam(), kColumns, cosines_, sines_);
  }

  RotaryConfig config_;
  std::vector<float> cosines_, sines_;
};

TEST_P(RotateTest, PairsAreMultipliedByAUnitComplexNumber) {
  const int width = kHeads * GetParam();
  const auto x = RandomFloats(1, kRows * kColumns * width);
  std::vector<float> y = x;
  constexpr int kCut = 5;  // parts of a batch give the whole
  RotateForward(Shape(0, kCut), cosines_.data(), sines_.data(), y.data());
  RotateForward(Shape(kCut, kRows * kColumns - kCut), cosines_.data(),
                sines_.data(), y.data() + kCut * width);
  for (int t = 0; t < kRows * kColumns; ++t) {
    for (int head = 0; head < kHeads; ++head) {
      for (int i = 0; i < half(); ++i) {
        const size_t at = t * width + head * GetParam() + i;
        const double angle =
            t % kColumns * RotaryFrequency(config_, GetParam(), kColumns, i);
        const double a = x[at];
        const double b = x[at + half()];
        EXPECT_NEAR(y[at], 1.25 * (a * std::cos(angle) - b * std::sin(angle)),
                    1e-6);
        EXPECT_NEAR(y[at + half()],
                    1.25 * (b * std::cos(angle) + a * std::sin(angle)), 1e-6);
      }
    }
  }
}

// The turn is linear, so dy . R(dx) = R^T(dy) . dx for every dx, which is what
// a finite difference would measure.
TEST_P(RotateTest, BackwardIsTheTransposedTurn) {
  const size_t count = kRows * kColumns * kHeads * GetParam();
  const auto direction = RandomFloats(2, count);
  const auto dy = RandomFloats(3, count);
  std::vector<float> turned = direction, dx = dy;
  const RotateShape shape = Shape(0, kRows * kColumns);
  RotateForward(shape, cosines_.data(), sines_.data(), turned.data());
  RotateBackward(shape, cosines_.data(), sines_.data(), dx.data());
  double left = 0, right = 0;
  for (size_t i = 0; i < count; ++i) {
    left += double{dy[i]} * turned[i];
    right += double{dx[i]} * direction[i];
  }
  EXPECT_NEAR(left, right, 1e-4);
  for (size_t i = 0; i < count; ++i) {
    std::vector<float> unit(count);
    unit[i] = 1;
    RotateForward(shape, cosines_.data(), sines_.data(), unit.data());
    double slope = 0;
    for (size_t k = 0; k < count; ++k) slope += double{dy[k]} * unit[k];
    EXPECT_NEAR(dx[i], slope, 1e-5) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(HeadSizes, RotateTest,
                         ::testing::Values(2, 6, 10, 34));

}  // namespace
}  // namespace skerry::model::cpu
