#include "model/spec/rotary.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::model {
namespace {

constexpr int kHeadSize = 10;

std::vector<double> Frequencies(const RotaryConfig& config, int columns) {
  std::vector<double> frequencies;
  for (int pair = 0; pair < kHeadSize / 2; ++pair) {
    frequencies.push_back(RotaryFrequency(config, kHeadSize, columns, pair));
  }
  return frequencies;
}

RotaryConfig ConfigOf(RotaryScaling scaling, double factor) {
  RotaryConfig config;
  config.scaling = scaling;
  config.theta = 500;
  config.factor = factor;
  config.original_positions = 64;
  return config;
}

void ExpectFrequencies(const RotaryConfig& config,
                       const std::vector<double>& expected) {
  const auto frequencies = Frequencies(config, 100);
  ASSERT_EQ(frequencies.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    // The expected ones were computed in float32.
    EXPECT_NEAR(frequencies[i] / expected[i], 1, 1e-6) << i;
  }
}

// Expected: transformers 5.23, ROPE_INIT_FUNCTIONS, a context of 64 tokens
// and a sequence of 100.
TEST(RotaryTest, ScalingsGiveTheFrequenciesOfTransformers) {
  ExpectFrequencies(ConfigOf(RotaryScaling::kLinear, 2.5),
                    {0.40000000596, 0.11541599035, 0.03330212831, 0.00960899424,
                     0.00277257920});
  ExpectFrequencies(
      ConfigOf(RotaryScaling::kDynamic, 3),
      {1, 0.22535586357, 0.05078526586, 0.01144475676, 0.00257914327});
  ExpectFrequencies(
      ConfigOf(RotaryScaling::kLlama3, 8),
      {1, 0.19925259054, 0.01040691510, 0.00300281076, 0.00086643099});
  ExpectFrequencies(
      ConfigOf(RotaryScaling::kYarn, 4),
      {1, 0.18033748865, 0.02081383020, 0.00600562152, 0.00173286197});
}

TEST(RotaryTest, DynamicScalingLeavesSequencesInsideTheContextAlone) {
  const RotaryConfig plain = ConfigOf(RotaryScaling::kNone, 1);
  const RotaryConfig dynamic = ConfigOf(RotaryScaling::kDynamic, 4);
  EXPECT_EQ(Frequencies(dynamic, 64), Frequencies(plain, 64));
  EXPECT_NE(Frequencies(dynamic, 65), Frequencies(plain, 65));
}

TEST(RotaryTest, TablesHoldEveryPositionsAngles) {
  RotaryConfig config = ConfigOf(RotaryScaling::kNone, 1);
  config.attention_factor = 1.5;
  constexpr int kColumns = 7;
  std::vector<float> cosines(kColumns * kHeadSize / 2), sines(cosines.size());
  FillRotaryTables(config, kHeadSize, kColumns, cosines, sines);
  const auto frequencies = Frequencies(config, kColumns);
  for (int t = 0; t < kColumns; ++t) {
    for (int i = 0; i < kHeadSize / 2; ++i) {
      EXPECT_FLOAT_EQ(cosines[t * kHeadSize / 2 + i],
                      static_cast<float>(1.5 * std::cos(t * frequencies[i])));
      EXPECT_FLOAT_EQ(sines[t * kHeadSize / 2 + i],
                      static_cast<float>(1.5 * std::sin(t * frequencies[i])));
    }
  }
}

}  // namespace
}  // namespace skerry::model
