#include "model/cpu/rows.h"

#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::model::cpu {
namespace {

constexpr int kRows = 5;

std::vector<float> RandomFloats(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.Uniform() - 0.5);
  return values;
}

class RowsTest : public ::testing::TestWithParam<int> {};

TEST_P(RowsTest, BiasAndStreamAreAddedToEveryRow) {
  const int width = GetParam();
  const auto x = RandomFloats(1, kRows * width);
  const auto bias = RandomFloats(2, width);
  std::vector<float> filled(x.size()), added(x.size()), doubled(x.size());
  FillRows(kRows, width, bias.data(), filled.data());
  AddBias(kRows, width, x.data(), bias.data(), added.data());
  Add(x.size(), x.data(), x.data(), doubled.data());
  for (int i = 0; i < kRows * width; ++i) {
    EXPECT_EQ(filled[i], bias[i % width]);
    EXPECT_EQ(added[i], x[i] + bias[i % width]);
    EXPECT_EQ(doubled[i], 2 * x[i]);
  }
}

TEST_P(RowsTest, ColumnSumsStayInsideTheirColumns) {
  const int width = GetParam();
  const auto x = RandomFloats(1, kRows * width);
  for (const int begin : {0, width / 3}) {
    for (const int end : {width / 2, width}) {
      std::vector<float> sums(width, 1.0f);
      AddColumnSums(kRows, width, begin, end, x.data(), sums.data());
      for (int i = 0; i < width; ++i) {
        double expected = 1;
        for (int r = 0; r < kRows && begin <= i && i < end; ++r) {
          expected += x[r * width + i];
        }
        EXPECT_NEAR(sums[i], expected, 1e-6) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, RowsTest,
                         ::testing::Values(1, 15, 16, 33, 96, 200));

}  // namespace
}  // namespace skerry::model::cpu
