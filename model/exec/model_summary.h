// model/exec/model_summary.h
//
// Computes from a config what training its model takes.
#ifndef SKERRY_MODEL_EXEC_MODEL_SUMMARY_H_
#define SKERRY_MODEL_EXEC_MODEL_SUMMARY_H_

#include <cstdint>

#include "model/exec/recompute.h"
#include "model/spec/graph.h"
#include "model/spec/model_config.h"

namespace skerry::model {

struct ModelSummary {
  int64_t tensors = 0;
  int64_t parameters = 0;
  Work work;  // of one micro-batch, without what is recomputed
  // Floating-point operations of what runs again on the way back.
  double recompute_flops = 0;
  // fp32 AdamW on CPU kernels, as the trainer holds it.
  int64_t parameter_bytes = 0;
  int64_t gradient_bytes = 0;
  int64_t optimizer_bytes = 0;   // both moments
  int64_t activation_bytes = 0;  // kept from forward for backward
  int64_t workspace_bytes = 0;   // gradients of activations, logits, scratch

  int64_t total_bytes() const {
    return parameter_bytes + gradient_bytes + optimizer_bytes +
           activation_bytes + workspace_bytes;
  }
};

// For micro-batches of `rows` sequences of `columns` tokens on `threads`
// threads. GEMM libraries' buffers, data and program are not counted.
//
// Requires: all three numbers positive.
ModelSummary SummarizeGraph(const Graph& graph, int rows, int columns,
                            int threads, Recompute recompute);
// Likewise. Requires also: ValidateModelConfig(config) is OK.
ModelSummary SummarizeModel(const ModelConfig& config, int rows, int columns,
                            int threads,
                            Recompute recompute = Recompute::kNothing);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_MODEL_SUMMARY_H_
