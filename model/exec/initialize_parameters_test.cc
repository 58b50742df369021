#include "model/exec/initialize_parameters.h"

#include <cmath>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "model/spec/gpt2_graph.h"

namespace skerry::model {
namespace {

// The probability that a standard normal variate lies below x.
double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// The derivative of the cdf turns an error in x into one in p.
double QuantileError(double x, double p) {
  const double density =
      std::exp(-0.5 * x * x) / std::sqrt(2 * 3.14159265358979323846);
  return (NormalCdf(x) - p) / density;
}

TEST(NormalFromBitsTest, MatchesTheTrueQuantiles) {
  Random random(11);
  for (int i = 0; i < 20000; ++i) {
    // Shifts reach far into the lower tail.
    const uint64_t bits = (random() >> 1) >> (i % 63);
    const double x = NormalFromBits(bits);
    const double p = (static_cast<double>(bits) + 0.5) * 0x1.0p-64;
    EXPECT_LE(std::abs(QuantileError(x, p)), 1e-9 * std::max(1.0, -x)) << bits;
  }
}

TEST(NormalFromBitsTest, IsSymmetricAndNamesKnownQuantiles) {
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t bits = random();
    EXPECT_EQ(NormalFromBits(bits), -NormalFromBits(~bits));
  }
  EXPECT_NEAR(NormalFromBits(uint64_t{1} << 63), 0, 1e-15);
  // 97.5 %: the textbook 1.959963984540054.
  EXPECT_NEAR(NormalFromBits(static_cast<uint64_t>(0.975 * 0x1.0p64)),
              1.959963984540054, 1e-12);
}

ModelConfig Small() {
  ModelConfig config;
  config.vocab_size = 256;
  config.n_positions = 64;
  config.n_embd = 96;
  config.n_layer = 3;
  config.n_head = 3;
  return config;
}

std::vector<float> Initialized(uint64_t seed) {
  const ModelConfig config = Small();
  const Graph graph = BuildGpt2Graph(config);
  std::vector<float> parameters(graph.layout.element_count());
  InitializeParameters(graph.layout, config, seed, parameters);
  return parameters;
}

// The hash was computed once; a machine where it differs cannot take part in
// a run, because replicas start from the seed alone.
TEST(InitializeParametersTest, SameSeedSameBitsOnEveryMachine) {
  EXPECT_EQ(Hash64Of(std::span<const float>(Initialized(42))),
            7203240071106198341ull);
  EXPECT_NE(Initialized(42), Initialized(43));
}

TEST(InitializeParametersTest, FollowsTheScheme) {
  const ModelConfig config = Small();
  const Graph graph = BuildGpt2Graph(config);
  const std::vector<float> parameters = Initialized(1);
  for (const ParameterTensor& tensor : graph.layout.tensors()) {
    double sum = 0;
    double squares = 0;
    for (int64_t i = 0; i < tensor.elements; ++i) {
      const double value = parameters[tensor.offset + i];
      sum += value;
      squares += value * value;
    }
    const double mean = sum / tensor.elements;
    const double rms = std::sqrt(squares / tensor.elements);
    const bool residual = tensor.name.ends_with("c_proj.weight");
    double expected = tensor.weight_decay ? 0.02 : 0;
    if (residual) expected /= std::sqrt(6.0);
    const bool norm = tensor.shape.size() == 1 &&
                      tensor.name.find(".ln_") != std::string::npos &&
                      tensor.name.ends_with("weight");
    if (norm) expected = 1;
    EXPECT_NEAR(rms, expected, 0.03 * expected) << tensor.name;
    EXPECT_NEAR(mean, norm ? 1 : 0, 0.001) << tensor.name;
  }
}

}  // namespace
}  // namespace skerry::model
