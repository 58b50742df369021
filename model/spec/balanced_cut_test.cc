#include "model/spec/balanced_cut.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/spec/graph_cut.h"
#include "model/spec/model_graph.h"

namespace skerry::model {
namespace {

constexpr int kRows = 2;
constexpr int kColumns = 7;

ModelConfig ConfigOf(const std::string& type, int layers) {
  ModelConfig config;
  config.model_type = type;
  config.vocab_size = 50;
  config.n_positions = 8;
  config.n_embd = 12;
  config.n_layer = layers;
  config.n_head = 2;
  if (type == "llama") config.n_inner = 33;
  return config;
}

struct Price {
  double largest = 0;  // flops
  double sent = 0;     // floats a token
};

Price PriceOf(const Graph& graph, const std::vector<int>& cuts) {
  Price price;
  std::vector<int> borders = cuts;
  borders.push_back(static_cast<int>(graph.operators.size()));
  int begin = 0;
  for (const int end : borders) {
    const Work work = StageWork(graph, {begin, end}, kRows, kColumns);
    price.largest =
        std::max(price.largest, work.forward_flops + work.backward_flops);
    for (const int value : ValuesCrossing(graph, end)) {
      price.sent += graph.values[value].width;
    }
    begin = end;
  }
  return price;
}

// All ways to take `count` of `positions` from `first` on.
void ForEachCut(const std::vector<int>& positions, size_t first, int count,
                std::vector<int>& cuts, const auto& visit) {
  if (count == 0) return visit(cuts);
  for (size_t i = first; i < positions.size(); ++i) {
    cuts.push_back(positions[i]);
    ForEachCut(positions, i + 1, count - 1, cuts, visit);
    cuts.pop_back();
  }
}

TEST(BalancedCutTest, NoCutIsBetterThanTheOneFound) {
  for (const char* type : {"gpt2", "llama"}) {
    const Graph graph = BuildGraph(ConfigOf(type, 2));
    const auto positions = CutPositions(graph);
    for (const int stages : {2, 3, 4}) {
      const auto found = BalancedCut(graph, stages, kRows, kColumns);
      ASSERT_EQ(found.size(), static_cast<size_t>(stages - 1));
      ASSERT_TRUE(ValidateCuts(graph, found).ok());
      double least = std::numeric_limits<double>::infinity();
      double fewest = least;
      std::vector<int> cuts;
      ForEachCut(positions, 0, stages - 1, cuts, [&](const auto& one) {
        least = std::min(least, PriceOf(graph, one).largest);
      });
      // Sums in another order differ in their last bits.
      const double most = 1.01 * least * (1 - 1e-12);
      ForEachCut(positions, 0, stages - 1, cuts, [&](const auto& one) {
        const Price price = PriceOf(graph, one);
        if (price.largest <= most) fewest = std::min(fewest, price.sent);
      });
      const Price price = PriceOf(graph, found);
      EXPECT_LE(price.largest, 1.01 * least * (1 + 1e-12)) << type << stages;
      EXPECT_LE(price.sent, fewest) << type << stages;
    }
  }
}

TEST(BalancedCutTest, EqualBlocksAreCutBetweenBlocks) {
  ModelConfig config = ConfigOf("gpt2", 48);
  config.vocab_size = 2;
  const Graph graph = BuildGraph(config);
  for (const int cut : BalancedCut(graph, 4, kRows, kColumns)) {
    EXPECT_EQ(ValuesCrossing(graph, cut).size(), 1u);
  }
}

TEST(BalancedCutTest, OneStageAndAsManyAsCanBe) {
  const Graph graph = BuildGraph(ConfigOf("gpt2", 1));
  EXPECT_THAT(BalancedCut(graph, 1, kRows, kColumns), ::testing::IsEmpty());
  const auto positions = CutPositions(graph);
  EXPECT_EQ(BalancedCut(graph, static_cast<int>(positions.size()) + 1, kRows,
                        kColumns),
            positions);
}

}  // namespace
}  // namespace skerry::model
