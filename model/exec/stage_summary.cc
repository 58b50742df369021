#include "model/exec/stage_summary.h"

#include <utility>

#include "model/spec/graph_cut.h"

namespace skerry::model {

CutSummary SummarizeCut(const Graph& graph, std::span<const int> cuts, int rows,
                        int columns, int threads, Recompute recompute) {
  constexpr int64_t kFloat = sizeof(float);
  const std::vector<StageGraph> stages = CutGraph(graph, cuts);
  CutSummary summary;
  for (const StageGraph& stage : stages) {
    StageSummary one;
    one.operators = stage.operators;
    one.first = stage.graph.operators.front().name;
    one.last = stage.graph.operators.back().name;
    one.own = SummarizeGraph(stage.graph, rows, columns, threads, recompute);
    for (const int output : stage.graph.outputs) {
      const Value& value = stage.graph.values[output];
      one.sent.push_back(
          {value.name, value.width, kFloat * rows * columns * value.width});
    }
    summary.stages.push_back(std::move(one));
  }
  for (SharedTensor& shared : SharedTensors(stages)) {
    const ParameterTensor& tensor = graph.layout.tensor(shared.tensor);
    summary.shared.push_back(
        {tensor.name, std::move(shared.stages), kFloat * tensor.elements});
  }
  return summary;
}

}  // namespace skerry::model
