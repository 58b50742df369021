#include "model/cpu/dropout.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::model::cpu {
namespace {

DropoutMask MaskOf(double rate, uint64_t sample, uint32_t stream) {
  DropoutMask mask = MaskOfRate(rate);
  mask.seed = 0x0123456789abcdef;
  mask.sample = sample;
  mask.stream = stream;
  return mask;
}

std::vector<float> Drop(const DropoutMask& mask, size_t first, size_t rows,
                        size_t width) {
  std::vector<float> x(rows * width, 1.0f);
  Dropout(mask, first, rows, width, x.data(), x.data());
  return x;
}

TEST(DropoutTest, EveryElementHasItsOwnFactorWhateverTheVectors) {
  const DropoutMask mask = MaskOf(0.3, (uint64_t{5} << 32) + 7, 2);
  for (const size_t width : {1, 3, 4, 15, 64, 65, 256, 257, 700}) {
    const auto factors = Drop(mask, 3, 4, width);
    for (size_t i = 0; i < factors.size(); ++i) {
      ASSERT_EQ(
          factors[i],
          DropoutFactor(mask, static_cast<uint32_t>(3 + i / width), i % width))
          << width << " " << i;
    }
  }
}

TEST(DropoutTest, RowsDoNotDependOnThoseBesideThem) {
  const DropoutMask mask = MaskOf(0.5, 1, 1);
  const auto all = Drop(mask, 0, 6, 33);
  for (size_t row = 0; row < 6; ++row) {
    EXPECT_EQ(Drop(mask, row, 1, 33),
              std::vector<float>(all.begin() + row * 33,
                                 all.begin() + (row + 1) * 33));
  }
}

TEST(DropoutTest, SeedSampleAndStreamMakeAnotherMask) {
  const DropoutMask mask = MaskOf(0.5, 1, 1);
  DropoutMask other_seed = mask, other_half = mask;
  other_seed.seed ^= 1;
  other_half.sample += uint64_t{1} << 32;
  const auto factors = Drop(mask, 0, 4, 64);
  for (const DropoutMask& other :
       {MaskOf(0.5, 2, 1), MaskOf(0.5, 1, 2), other_seed, other_half}) {
    EXPECT_NE(Drop(other, 0, 4, 64), factors);
  }
  EXPECT_EQ(Drop(mask, 0, 4, 64), factors);
}

// Five standard deviations; one mask in two million has none within.
TEST(DropoutTest, AsManyAreDroppedAsTheRateSays) {
  constexpr size_t kCount = 400 * 1000;
  for (const double rate : {0.01, 0.1, 0.5, 0.9}) {
    const auto factors = Drop(MaskOf(rate, 9, 3), 0, 400, 1000);
    size_t dropped = 0;
    double sum = 0;
    for (const float f : factors) {
      dropped += f == 0;
      sum += f;
      ASSERT_TRUE(f == 0 || f == static_cast<float>(1 / (1 - rate))) << f;
    }
    const double deviation = std::sqrt(kCount * rate * (1 - rate));
    EXPECT_NEAR(dropped, kCount * rate, 5 * deviation) << rate;
    EXPECT_NEAR(sum, kCount, 5 * deviation / (1 - rate)) << rate;
  }
}

// Neighbours in a row, a column and in streams agree as often as independent
// ones.
TEST(DropoutTest, NeighboursAreIndependent) {
  constexpr size_t kRows = 300, kWidth = 1000;
  const auto a = Drop(MaskOf(0.5, 9, 3), 0, kRows, kWidth);
  const auto b = Drop(MaskOf(0.5, 9, 4), 0, kRows, kWidth);
  const auto c = Drop(MaskOf(0.5, 10, 3), 0, kRows, kWidth);
  const auto agreeing = [&](const std::vector<float>& other, size_t shift) {
    size_t count = 0;
    for (size_t i = 0; i + shift < a.size(); ++i) {
      count += a[i] == other[i + shift];
    }
    return static_cast<double>(count) / static_cast<double>(a.size() - shift);
  };
  const double five_deviations = 2.5 / std::sqrt(kRows * kWidth);
  EXPECT_NEAR(agreeing(a, 1), 0.5, five_deviations);
  EXPECT_NEAR(agreeing(a, 4), 0.5, five_deviations);
  EXPECT_NEAR(agreeing(a, kWidth), 0.5, five_deviations);
  EXPECT_NEAR(agreeing(b, 0), 0.5, five_deviations);
  EXPECT_NEAR(agreeing(c, 0), 0.5, five_deviations);
}

TEST(DropoutTest, RateZeroChangesNothingAndNaNStays) {
  EXPECT_EQ(Drop(MaskOf(0, 1, 1), 0, 3, 70), std::vector<float>(210, 1.0f));
  std::vector<float> x(64, std::nanf(""));
  Dropout(MaskOf(0.5, 1, 1), 0, 1, 64, x.data(), x.data());
  for (const float v : x) EXPECT_TRUE(std::isnan(v));
}

}  // namespace
}  // namespace skerry::model::cpu
