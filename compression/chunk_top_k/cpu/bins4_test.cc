#include "compression/chunk_top_k/cpu/bins4.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "compression/testing/every_simd_target.h"
#include "gtest/gtest.h"

namespace skerry::compression::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// With room behind them that holds what must not be read.
std::vector<float> Draw(size_t count) {
  Random random(23);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>((random.Uniform() - 0.5) /
                               (0.01 + random.Uniform()));
  }
  values.resize(count + kBinnedSlack, std::nanf(""));
  return values;
}

template <typename What>
double SumOf(const std::vector<float>& values, size_t count, const What& what) {
  double sums[16] = {};
  for (size_t i = 0; i < count; ++i) sums[i % 16] += what(values[i]);
  for (size_t i = 0; i < 8; ++i) sums[i] += sums[i + 8];
  for (size_t i = 0; i < 4; ++i) sums[i] += sums[i + 4];
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

void ExpectWhatALoopFinds(size_t count, const BinEdges& edges) {
  std::vector<float> values = Draw(count);
  const Moments moments = MomentsOf(values.data(), count);
  EXPECT_EQ(moments.sum,
            SumOf(values, count, [](double value) { return value; }));
  EXPECT_EQ(moments.squares,
            SumOf(values, count, [](double value) { return value * value; }));

  const size_t bytes = (count + 3) / 4;
  std::vector<std::byte> codes(bytes + 1, std::byte{0xaa});
  const EdgeSums found = BinAll(values.data(), count, edges, codes.data());
  const auto bin_of = [&](double value) -> size_t {
    return value >= edges[2]   ? 3
           : value >= edges[1] ? 2
           : value >= edges[0] ? 1
                               : 0;
  };
  std::vector<std::byte> expected(bytes);
  for (size_t i = 0; i < count; ++i) {
    const size_t bin = bin_of(values[i]);
    expected[i / 4] |= static_cast<std::byte>(bin << (i % 4 * 2));
  }
  expected.push_back(std::byte{0xaa});  // nothing is written behind
  EXPECT_EQ(codes, expected);
  for (size_t bin = 1; bin < kBins; ++bin) {
    EXPECT_EQ(found.counts[bin - 1], SumOf(values, count, [&](double value) {
                return bin_of(value) >= bin ? 1 : 0;
              }));
    EXPECT_EQ(found.sums[bin - 1], SumOf(values, count, [&](double value) {
                return bin_of(value) >= bin ? value : 0.0;
              }));
  }
}

void ExpectTheLevelOfEachCode(size_t count) {
  const std::array<float, kBins> levels = {-2.5f, -0.0f, 1.0f, 1e30f};
  Random random(29);
  std::vector<size_t> bins(count);
  std::vector<std::byte> codes((count + 3) / 4);
  for (size_t i = 0; i < count; ++i) {
    bins[i] = random.Below(kBins);
    codes[i / 4] |= static_cast<std::byte>(bins[i] << (i % 4 * 2));
  }
  std::vector<float> values(count + kBinnedSlack);
  ASSERT_TRUE(LevelsOf(codes.data(), count, levels, values.data()));
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(values[i]),
              std::bit_cast<uint32_t>(levels[bins[i]]))
        << i << " of " << count;
  }
  if (count % 4 == 0) return;
  codes.back() |= std::byte{0x40};
  EXPECT_FALSE(LevelsOf(codes.data(), count, levels, values.data()));
}

TEST(Bins4Test, EverySimdTargetFindsWhatALoopFinds) {
  OnEverySimdTarget([] {
    for (const size_t count : {0, 1, 3, 15, 16, 17, 64, 1000, 4095, 4096}) {
      ExpectTheLevelOfEachCode(count);
      ExpectWhatALoopFinds(count, {-0.5f, 0.01f, 0.5f});
      ExpectWhatALoopFinds(count, {0.0f, 0.25f, 1.0f});
      ExpectWhatALoopFinds(count, {-kInfinity, -kInfinity, kInfinity});
    }
  });
}

}  // namespace
}  // namespace skerry::compression::cpu
