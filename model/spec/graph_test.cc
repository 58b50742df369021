#include "model/spec/graph.h"

#include <algorithm>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/spec/gpt2_graph.h"

namespace skerry::model {
namespace {

using ::testing::SizeIs;

ModelConfig Small() {
  ModelConfig config;
  config.vocab_size = 256;
  config.n_positions = 64;
  config.n_embd = 96;
  config.n_layer = 3;
  config.n_head = 3;
  return config;
}

// A matrix product does two operations a weight and token forward, four
// backward; everything else is small beside it.
TEST(GraphTest, WorkIsAboutSixOperationsAParameterAndToken) {
  const Graph graph = BuildGpt2Graph(ModelConfig());
  const Stage all{0, static_cast<int>(graph.operators.size())};
  const Work work = StageWork(graph, all, 1, 64);
  const double linear = 6.0 * (graph.layout.element_count() - 1024 * 768) * 64;
  EXPECT_NEAR((work.forward_flops + work.backward_flops) / linear, 1.0, 0.02);
  EXPECT_EQ(work.parameter_bytes, 4.0 * graph.layout.element_count());
}

TEST(GraphTest, StagesSumToTheWhole) {
  const Graph graph = BuildGpt2Graph(Small());
  const int count = static_cast<int>(graph.operators.size());
  const Work whole = StageWork(graph, {0, count}, 4, 64);
  for (int cut = 0; cut <= count; ++cut) {
    const Work first = StageWork(graph, {0, cut}, 4, 64);
    const Work second = StageWork(graph, {cut, count}, 4, 64);
    EXPECT_DOUBLE_EQ(first.forward_flops + second.forward_flops,
                     whole.forward_flops);
    EXPECT_DOUBLE_EQ(first.activation_bytes + second.activation_bytes,
                     whole.activation_bytes);
  }
}

TEST(GraphTest, OneValueCrossesBetweenBlocksAndTwoInsideThem) {
  const Graph graph = BuildGpt2Graph(Small());
  const auto at = [&](std::string_view name) {
    const auto it =
        std::find_if(graph.operators.begin(), graph.operators.end(),
                     [&](const Operator& op) { return op.name == name; });
    return static_cast<int>(it - graph.operators.begin());
  };
  EXPECT_THAT(ValuesCrossing(graph, 0), SizeIs(0));
  EXPECT_THAT(ValuesCrossing(graph, at("transformer.h.1.ln_1")), SizeIs(1));
  EXPECT_THAT(ValuesCrossing(graph, at("transformer.h.1.mlp.act")), SizeIs(2));
}

}  // namespace
}  // namespace skerry::model
