#include "model/exec/model_summary.h"

#include "base/check.h"
#include "model/exec/buffer_plan.h"
#include "model/exec/memory_plan.h"
#include "model/spec/model_graph.h"

namespace skerry::model {

namespace {

double RecomputeFlops(const Graph& graph, const MemoryPlan& plan, int rows,
                      int columns) {
  double flops = 0;
  for (size_t i = 0; i < graph.operators.size(); ++i) {
    if (!plan.operators[i].runs_again) continue;
    flops +=
        OperatorWork(graph, graph.operators[i], rows, columns).forward_flops;
  }
  return flops;
}

}  // namespace

ModelSummary SummarizeGraph(const Graph& graph, int rows, int columns,
                            int threads, Recompute recompute) {
  SKERRY_CHECK(rows > 0 && columns > 0 && threads > 0);
  constexpr int64_t kFloat = sizeof(float);
  const MemoryPlan plan = PlanMemory(graph, recompute);
  const BufferPlan buffers = PlanBuffers(graph, plan, rows, columns, threads);
  ModelSummary summary;
  summary.tensors = static_cast<int64_t>(graph.layout.tensors().size());
  summary.parameters = graph.layout.element_count();
  const Stage all = {0, static_cast<int>(graph.operators.size())};
  summary.work = StageWork(graph, all, rows, columns);
  summary.recompute_flops = RecomputeFlops(graph, plan, rows, columns);
  summary.parameter_bytes = kFloat * summary.parameters;
  summary.gradient_bytes = kFloat * summary.parameters;
  summary.optimizer_bytes = 2 * kFloat * summary.parameters;
  summary.activation_bytes = kFloat * static_cast<int64_t>(buffers.values);
  summary.workspace_bytes =
      kFloat *
      static_cast<int64_t>(buffers.gradients + buffers.logits + buffers.losses +
                           buffers.scratch + 2 * buffers.rotary);
  return summary;
}

ModelSummary SummarizeModel(const ModelConfig& config, int rows, int columns,
                            int threads, Recompute recompute) {
  return SummarizeGraph(BuildGraph(config), rows, columns, threads, recompute);
}

}  // namespace skerry::model
