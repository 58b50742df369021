#include "model/exec/memory_plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/spec/gpt2_graph.h"
#include "model/spec/llama_graph.h"

namespace skerry::model {
namespace {

ModelConfig ConfigOf(int layers) {
  ModelConfig config;
  config.vocab_size = 11;
  config.n_positions = 8;
  config.n_embd = 12;
  config.n_layer = layers;
  config.n_head = 2;
  return config;
}

int64_t ValueFloats(const Graph& graph, const MemoryPlan& plan) {
  int64_t sum = 0;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (plan.value_offset[i] != kNone) sum += graph.values[i].width;
  }
  return sum;
}

TEST(MemoryPlanTest, GradientsOfOneLayerServeAllLayers) {
  const Graph two = BuildGpt2Graph(ConfigOf(2));
  const Graph nine = BuildGpt2Graph(ConfigOf(9));
  const MemoryPlan plan_two = PlanMemory(two);
  const MemoryPlan plan_nine = PlanMemory(nine);
  // A block keeps two norms' statistics and its heads' log sums.
  const auto gradients = [](const Graph& graph, const MemoryPlan& plan,
                            int layers) {
    return plan.floats_per_token - ValueFloats(graph, plan) -
           layers * (2 * 2 + 2) - 2;
  };
  EXPECT_EQ(gradients(two, plan_two, 2), gradients(nine, plan_nine, 9));
}

TEST(MemoryPlanTest, ValuesDoNotOverlap) {
  const Graph graph = BuildGpt2Graph(ConfigOf(2));
  const MemoryPlan plan = PlanMemory(graph);
  std::vector<int> users(plan.floats_per_token);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (plan.value_offset[i] == kNone) continue;
    for (int k = 0; k < graph.values[i].width; ++k) {
      ++users[plan.value_offset[i] + k];
    }
  }
  EXPECT_LE(*std::max_element(users.begin(), users.end()), 1);
}

// Values that exist at the same time must not overlap: those that other runs
// hand on, and all values of one run.
TEST(MemoryPlanTest, RecomputedValuesOfARunDoNotOverlap) {
  const Graph graph = BuildGpt2Graph(ConfigOf(3));
  const MemoryPlan plan = PlanMemory(graph, Recompute::kBlocks);
  ASSERT_EQ(plan.runs.size(), 3u);
  EXPECT_LT(plan.value_floats_per_token,
            PlanMemory(graph).value_floats_per_token / 2);
  for (const Stage& run : plan.runs) {
    std::vector<int> users(plan.floats_per_token);
    const auto use = [&](int value) {
      if (plan.value_offset[value] == kNone) return;
      for (int k = 0; k < graph.values[value].width; ++k) {
        ++users[plan.value_offset[value] + k];
      }
    };
    for (const Stage& other : plan.runs) {
      const int last = other.end - 1;
      if (other.begin != run.begin && !plan.operators[last].runs_again &&
          other.end != plan.runs.back().end) {
        use(graph.operators[last].output);
      }
    }
    for (int i = run.begin; i < run.end; ++i) use(graph.operators[i].output);
    EXPECT_LE(*std::max_element(users.begin(), users.end()), 1) << run.begin;
  }
}

TEST(MemoryPlanTest, WhatARunHandsOnIsNotRunAgain) {
  const Graph graph = BuildGpt2Graph(ConfigOf(2));
  const MemoryPlan plan = PlanMemory(graph, Recompute::kBlocks);
  int again = 0;
  for (const OperatorPlan& op : plan.operators) again += op.runs_again;
  // The embedding and the first block, without its last product and add.
  EXPECT_EQ(again, plan.runs[0].end - 2);
  for (const OperatorPlan& op : PlanMemory(graph).operators) {
    EXPECT_FALSE(op.runs_again);
  }
}

TEST(MemoryPlanTest, BranchesRunIntoTheResidualStream) {
  const Graph graph = BuildGpt2Graph(ConfigOf(1));
  const MemoryPlan plan = PlanMemory(graph);
  int fused = 0;
  for (size_t i = 0; i < graph.operators.size(); ++i) {
    if (!plan.operators[i].adds_to_residual) continue;
    ++fused;
    EXPECT_TRUE(plan.operators[i + 1].done_by_previous);
    EXPECT_EQ(plan.value_offset[graph.operators[i].output], kNone);
    EXPECT_EQ(plan.gradient_offset[graph.operators[i].output],
              plan.gradient_offset[graph.operators[i + 1].output]);
  }
  EXPECT_EQ(fused, 2);
}

TEST(MemoryPlanTest, OnlyNormsInsideBlocksAddToAGradient) {
  const Graph graph = BuildGpt2Graph(ConfigOf(2));
  const MemoryPlan plan = PlanMemory(graph);
  for (size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    EXPECT_EQ(
        plan.operators[i].accumulates,
        op.kind == OperatorKind::kLayerNorm && op.name != "transformer.ln_f")
        << op.name;
  }
}

Graph LlamaOf(int layers) {
  ModelConfig config = ConfigOf(layers);
  config.model_type = "llama";
  config.n_kv_head = 1;
  config.n_inner = 29;
  return BuildLlamaGraph(config);
}

TEST(MemoryPlanTest, RotaryTurnsValuesAndGradientsInPlace) {
  const Graph graph = LlamaOf(2);
  const MemoryPlan plan = PlanMemory(graph);
  int turns = 0;
  for (const Operator& op : graph.operators) {
    if (op.kind != OperatorKind::kRotary) continue;
    ++turns;
    EXPECT_EQ(plan.value_offset[op.output], plan.value_offset[op.inputs[0]]);
    EXPECT_EQ(plan.gradient_offset[op.output],
              plan.gradient_offset[op.inputs[0]]);
  }
  EXPECT_EQ(turns, 4);
}

TEST(MemoryPlanTest, DropoutWorksInPlaceButLeavesTheStreamsGradient) {
  ModelConfig config = ConfigOf(2);
  config.embd_pdrop = config.resid_pdrop = 0.5;
  const Graph graph = BuildGpt2Graph(config);
  const MemoryPlan plan = PlanMemory(graph);
  int drops = 0;
  for (const Operator& op : graph.operators) {
    if (op.kind != OperatorKind::kDropout) continue;
    EXPECT_EQ(plan.value_offset[op.output], plan.value_offset[op.inputs[0]]);
    const bool is_branch = drops++ > 0;
    EXPECT_EQ(
        plan.gradient_offset[op.output] == plan.gradient_offset[op.inputs[0]],
        !is_branch)
        << op.name;
  }
  EXPECT_EQ(drops, 5);
}

// What one operator's backward pass reads and writes at a time.
TEST(MemoryPlanTest, GradientsOfInputsDoNotOverlapOneAnother) {
  const Graph graph = LlamaOf(2);
  const MemoryPlan plan = PlanMemory(graph);
  for (size_t i = 0; i + 2 < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (op.kind == OperatorKind::kResidualAdd) continue;
    std::vector<int> users(plan.floats_per_token);
    for (const int value : op.inputs) {
      for (int k = 0; k < graph.values[value].width; ++k) {
        EXPECT_EQ(users[plan.gradient_offset[value] + k]++, 0) << op.name;
      }
    }
  }
}

TEST(MemoryPlanTest, AllThatReadANormAddUpInItsGradient) {
  const Graph graph = LlamaOf(1);
  const MemoryPlan plan = PlanMemory(graph);
  std::vector<std::string> first, later;
  for (size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (op.kind != OperatorKind::kLinear) continue;
    (plan.operators[i].accumulates ? later : first).push_back(op.name);
  }
  // Backward goes from the last reader to the first.
  EXPECT_THAT(later, ::testing::ElementsAre("model.layers.0.self_attn.q_proj",
                                            "model.layers.0.self_attn.k_proj",
                                            "model.layers.0.mlp.gate_proj"));
}

TEST(MemoryPlanDeathTest, AStreamReadAfterItsBranchIsRefused) {
  Graph graph = BuildGpt2Graph(ConfigOf(1));
  // Stream and branch change places.
  for (Operator& op : graph.operators) {
    if (op.name == "transformer.h.0.mlp.residual") {
      std::swap(op.inputs[0], op.inputs[1]);
    }
  }
  EXPECT_DEATH(PlanMemory(graph), "broken invariant");
}

}  // namespace
}  // namespace skerry::model
