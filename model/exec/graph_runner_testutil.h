// model/exec/graph_runner_testutil.h
//
// A small graph that is not GPT-2: an activation at the end of a branch, with
// nothing to fuse the residual add into, and a head of its own.
#ifndef SKERRY_MODEL_EXEC_GRAPH_RUNNER_TESTUTIL_H_
#define SKERRY_MODEL_EXEC_GRAPH_RUNNER_TESTUTIL_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"
#include "model/spec/graph.h"

namespace skerry::model {

inline Operator MakeOperator(OperatorKind kind, std::vector<int> inputs,
                             int output, int width) {
  Operator op;
  op.kind = kind;
  op.inputs = std::move(inputs);
  op.output = output;
  op.in_width = op.out_width = width;
  return op;
}

// x = tokens[id] + positions[t]; y = x + gelu(x W + b); logits = y head^T.
inline Graph BranchGraph(int vocab, int positions, int width) {
  Graph graph;
  ParameterLayout& layout = graph.layout;
  for (const char* name : {"x", "h", "a", "y"}) {
    graph.values.push_back({name, width});
  }
  graph.values.push_back({"logits", vocab});
  using enum OperatorKind;
  Operator embedding = MakeOperator(kEmbedding, {}, 0, width);
  embedding.weight = layout.Add("tokens", {vocab, width}, Initializer::kNormal);
  embedding.bias =
      layout.Add("positions", {positions, width}, Initializer::kNormal);
  Operator linear = MakeOperator(kLinear, {0}, 1, width);
  linear.weight = layout.Add("W", {width, width}, Initializer::kNormal);
  linear.bias = layout.Add("b", {width}, Initializer::kNormal);
  Operator head = MakeOperator(kLinear, {3}, 4, width);
  head.weight = layout.Add("head", {vocab, width}, Initializer::kNormal);
  head.weight_is_transposed = true;
  head.out_width = vocab;
  graph.operators = {embedding,
                     linear,
                     MakeOperator(kActivation, {1}, 2, width),
                     MakeOperator(kResidualAdd, {0, 2}, 3, width),
                     head,
                     MakeOperator(kCrossEntropy, {4}, kNone, vocab)};
  return graph;
}

inline std::vector<float> RandomParameters(const Graph& graph) {
  Random random(4);
  std::vector<float> values(graph.layout.element_count());
  for (float& v : values) v = static_cast<float>(random.Uniform() - 0.5);
  return values;
}

inline std::vector<int32_t> RandomIds(uint64_t seed, int vocab, size_t count) {
  Random random(seed);
  std::vector<int32_t> ids(count);
  for (int32_t& id : ids) id = static_cast<int32_t>(random.Below(vocab));
  return ids;
}

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_GRAPH_RUNNER_TESTUTIL_H_
