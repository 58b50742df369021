#include "model/spec/graph_cut.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::model {
namespace {

bool CanBeCut(const Graph& graph, int position) {
  return graph.operators[position].kind != OperatorKind::kCrossEntropy &&
         !AddsToResidual(graph, position - 1);
}

// Where `whole` is in `ascending`; kNone stays what it is.
int NumberIn(const std::vector<int>& ascending, int whole) {
  if (whole == kNone) return kNone;
  const auto it = std::lower_bound(ascending.begin(), ascending.end(), whole);
  SKERRY_CHECK(it != ascending.end() && *it == whole);
  return static_cast<int>(it - ascending.begin());
}

std::vector<int> NumbersIn(const std::vector<int>& ascending,
                           const std::vector<int>& whole) {
  std::vector<int> numbers;
  for (const int number : whole) numbers.push_back(NumberIn(ascending, number));
  return numbers;
}

StageGraph MakeStage(const Graph& whole, const Stage& range) {
  StageGraph stage;
  stage.operators = range;
  stage.graph.rotary = whole.rotary;
  const std::vector<int> inputs = ValuesCrossing(whole, range.begin);
  const std::vector<int> outputs = ValuesCrossing(whole, range.end);
  absl::btree_set<int> values(inputs.begin(), inputs.end());
  absl::btree_set<int> tensors;
  for (int i = range.begin; i < range.end; ++i) {
    const Operator& op = whole.operators[i];
    if (op.output != kNone) values.insert(op.output);
    if (op.weight != kNone) tensors.insert(op.weight);
    if (op.bias != kNone) tensors.insert(op.bias);
  }
  stage.values.assign(values.begin(), values.end());
  stage.tensors.assign(tensors.begin(), tensors.end());
  for (const int value : values) {
    stage.graph.values.push_back(whole.values[value]);
  }
  for (const int tensor : tensors) {
    const ParameterTensor& t = whole.layout.tensor(tensor);
    stage.graph.layout.Add(t.name, t.shape, t.initializer);
  }
  for (int i = range.begin; i < range.end; ++i) {
    Operator op = whole.operators[i];
    op.inputs = NumbersIn(stage.values, op.inputs);
    op.output = NumberIn(stage.values, op.output);
    op.weight = NumberIn(stage.tensors, op.weight);
    op.bias = NumberIn(stage.tensors, op.bias);
    stage.graph.operators.push_back(std::move(op));
  }
  stage.graph.inputs = NumbersIn(stage.values, inputs);
  stage.graph.outputs = NumbersIn(stage.values, outputs);
  return stage;
}

}  // namespace

std::vector<int> CutPositions(const Graph& graph) {
  std::vector<int> positions;
  const int count = static_cast<int>(graph.operators.size());
  for (int i = 1; i < count; ++i) {
    if (CanBeCut(graph, i)) positions.push_back(i);
  }
  return positions;
}

absl::Status ValidateCuts(const Graph& graph, std::span<const int> cuts) {
  const int count = static_cast<int>(graph.operators.size());
  int last = 0;
  for (const int cut : cuts) {
    if (cut < 1 || cut >= count) {
      return absl::InvalidArgumentError(
          absl::StrCat("cut at operator ", cut, ", must be 1 to ", count - 1));
    }
    const std::string& name = graph.operators[cut].name;
    if (cut <= last) {
      return absl::InvalidArgumentError(
          absl::StrCat("cut before ", name, " follows a later one or itself; ",
                       "name cuts once and in the order of the model"));
    }
    if (!CanBeCut(graph, cut)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "cut before ", name, ": it runs as one with ",
          graph.operators[cut - 1].name, "; cut before that or after ", name));
    }
    last = cut;
  }
  return absl::OkStatus();
}

std::vector<StageGraph> CutGraph(const Graph& graph,
                                 std::span<const int> cuts) {
  SKERRY_CHECK(ValidateCuts(graph, cuts).ok());
  SKERRY_CHECK(graph.inputs.empty() && graph.outputs.empty());
  std::vector<StageGraph> stages;
  int begin = 0;
  for (const int cut : cuts) {
    stages.push_back(MakeStage(graph, {begin, cut}));
    begin = cut;
  }
  stages.push_back(
      MakeStage(graph, {begin, static_cast<int>(graph.operators.size())}));
  return stages;
}

std::vector<SharedTensor> SharedTensors(std::span<const StageGraph> stages) {
  absl::btree_map<int, std::vector<int>> readers;
  for (size_t i = 0; i < stages.size(); ++i) {
    for (const int tensor : stages[i].tensors) {
      readers[tensor].push_back(static_cast<int>(i));
    }
  }
  std::vector<SharedTensor> shared;
  for (auto& [tensor, where] : readers) {
    if (where.size() > 1) shared.push_back({tensor, std::move(where)});
  }
  return shared;
}

}  // namespace skerry::model
