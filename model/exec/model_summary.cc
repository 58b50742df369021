#include "model/exec/model_summary.h"

#include "base/check.h"
#include "model/exec/buffer_plan.h"
#include "model/exec/memory_plan.h"
#include "model/spec/model_graph.h"

namespace skerry::model {

ModelSummary SummarizeModel(const ModelConfig& config, int rows, int columns,
                            int threads) {
  SKERRY_CHECK(rows > 0 && columns > 0 && threads > 0);
  constexpr int64_t kFloat = sizeof(float);
  const Graph graph = BuildGraph(config);
  const BufferPlan buffers =
      PlanBuffers(graph, PlanMemory(graph), rows, columns, threads);
  ModelSummary summary;
  summary.tensors = static_cast<int64_t>(graph.layout.tensors().size());
  summary.parameters = graph.layout.element_count();
  const Stage all = {0, static_cast<int>(graph.operators.size())};
  summary.work = StageWork(graph, all, rows, columns);
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

}  // namespace skerry::model
