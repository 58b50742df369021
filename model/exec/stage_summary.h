// model/exec/stage_summary.h
//
// Computes from the graph what each stage of a cut model takes and sends.
#ifndef SKERRY_MODEL_EXEC_STAGE_SUMMARY_H_
#define SKERRY_MODEL_EXEC_STAGE_SUMMARY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/exec/model_summary.h"
#include "model/exec/recompute.h"
#include "model/spec/graph.h"

namespace skerry::model {

// Its shape is [rows, columns, width].
struct CrossingValue {
  std::string name;
  int width = 0;
  int64_t bytes = 0;  // fp32; its gradient, as large, comes back
};

struct StageSummary {
  Stage operators;  // of the whole graph
  std::string first;
  std::string last;
  ModelSummary own;                 // with one micro-batch in the stage
  std::vector<CrossingValue> sent;  // to the next stage
};

// A tensor that several stages share (SharedTensor). In every micro-batch its
// gradient passes from the last of these stages to the first.
struct SharedSummary {
  std::string tensor;
  std::vector<int> stages;
  int64_t gradient_bytes = 0;
};

struct CutSummary {
  std::vector<StageSummary> stages;
  std::vector<SharedSummary> shared;
};

// Requires: ValidateCuts(graph, cuts) is OK; the numbers are positive.
CutSummary SummarizeCut(const Graph& graph, std::span<const int> cuts, int rows,
                        int columns, int threads, Recompute recompute);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_STAGE_SUMMARY_H_
