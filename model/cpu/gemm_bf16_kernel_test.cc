#include "model/cpu/gemm_bf16_kernel.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "model/cpu/testing/rounded_gemm.h"

namespace skerry::model::cpu {
namespace {

constexpr uint32_t kUntouched = 0xdeadbeef;

class Bf16KernelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasBf16Dot()) GTEST_SKIP() << "no bf16 on this processor";
  }
};

uint32_t WordOf(float first, float second) {
  return std::bit_cast<uint32_t>(RoundToBf16(first)) >> 16 |
         (std::bit_cast<uint32_t>(RoundToBf16(second)) & 0xffff0000);
}

// Both ways of lying, every count of lanes and an odd and an even depth.
TEST_F(Bf16KernelTest, APanelHoldsPairsOfRoundedNeighboursAndZeros) {
  constexpr size_t kStride = 50;
  Random random(3);
  std::vector<float> data(kStride * kStride);
  for (float& v : data) v = static_cast<float>(random.Uniform() - 0.5);
  for (const size_t width : {kBf16Rows, kBf16Columns}) {
    for (size_t lanes = 1; lanes <= width; ++lanes) {
      for (const size_t depth : {1, 16, 33, 46}) {
        for (const bool along : {true, false}) {
          const auto at = [&](size_t lane, size_t k) {
            if (lane >= lanes || k >= depth) return 0.0f;
            return data[along ? lane * kStride + k : k * kStride + lane];
          };
          const size_t pairs = (depth + 1) / 2;
          std::vector<uint32_t> panel(pairs * width + 1, kUntouched);
          (along ? PackBf16Along : PackBf16Across)(
              {data.data(), kStride, lanes, depth}, width, panel.data());
          EXPECT_EQ(panel.back(), kUntouched);
          for (size_t i = 0; i < pairs * width; ++i) {
            const size_t lane = i % width, k = i / width * 2;
            ASSERT_EQ(panel[i], WordOf(at(lane, k), at(lane, k + 1)))
                << lanes << " lanes, depth " << depth << ", lane " << lane;
          }
        }
      }
    }
  }
}

TEST_F(Bf16KernelTest, ATileOfAnySizeLeavesTheRestAlone) {
  constexpr size_t kPairs = 3, kStride = kBf16Columns + 3;
  const std::vector<uint32_t> a(kPairs * kBf16Rows, WordOf(2, 3));
  const std::vector<uint32_t> b(kPairs * kBf16Columns, WordOf(5, 7));
  for (size_t rows = 1; rows <= kBf16Rows; ++rows) {
    for (const size_t columns :
         {size_t{1}, size_t{16}, size_t{17}, kBf16Columns}) {
      for (const bool adds : {false, true}) {
        std::vector<float> c((kBf16Rows + 1) * kStride, 0.5f);
        MultiplyBf16Tile({a.data(), b.data(), kPairs, rows, columns, c.data(),
                          kStride, adds});
        const float product = kPairs * (2 * 5 + 3 * 7);
        for (size_t i = 0; i < c.size(); ++i) {
          const bool inside = i / kStride < rows && i % kStride < columns;
          ASSERT_EQ(c[i], inside ? product + (adds ? 0.5f : 0) : 0.5f)
              << rows << " x " << columns << " at " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace skerry::model::cpu
