#include "model/exec/recompute.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/spec/model_graph.h"

namespace skerry::model {
namespace {

Graph GraphOf(const std::string& type, int layers) {
  ModelConfig config;
  config.model_type = type;
  config.vocab_size = 11;
  config.n_positions = 8;
  config.n_embd = 12;
  config.n_layer = layers;
  config.n_head = 2;
  if (type == "llama") {
    config.n_kv_head = 1;
    config.n_inner = 20;
    config.tie_word_embeddings = false;
  }
  return BuildGraph(config);
}

int Attentions(const Graph& graph, const Stage& run) {
  int count = 0;
  for (int i = run.begin; i < run.end; ++i) {
    count += graph.operators[i].kind == OperatorKind::kAttention;
  }
  return count;
}

TEST(RecomputeTest, ARunIsABlockAndHandsOnTheStreamAlone) {
  for (const char* type : {"gpt2", "llama"}) {
    for (const int layers : {1, 2, 5}) {
      const Graph graph = GraphOf(type, layers);
      const auto runs = CutForRecompute(graph, Recompute::kBlocks);
      ASSERT_EQ(runs.size(), static_cast<size_t>(layers)) << type;
      int begin = 0;
      for (const Stage& run : runs) {
        EXPECT_EQ(run.begin, begin);
        EXPECT_EQ(Attentions(graph, run), 1);
        EXPECT_EQ(ValuesCrossing(graph, run.end).size(), 1u);
        begin = run.end;
      }
      EXPECT_EQ(begin, static_cast<int>(graph.operators.size()) - 2);
      // The stream goes on after the block's last add.
      EXPECT_EQ(graph.operators[runs[0].end - 1].kind,
                layers == 1 ? graph.operators[begin - 1].kind
                            : OperatorKind::kResidualAdd);
    }
  }
}

TEST(RecomputeTest, NothingIsOneRun) {
  const Graph graph = GraphOf("gpt2", 3);
  const auto runs = CutForRecompute(graph, Recompute::kNothing);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].end, static_cast<int>(graph.operators.size()) - 2);
}

}  // namespace
}  // namespace skerry::model
