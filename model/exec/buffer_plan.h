// model/exec/buffer_plan.h
//
// Computes how many floats a GraphRunner holds, from the graph and before
// anything is allocated. So a model's memory is known without making the model.
#ifndef SKERRY_MODEL_EXEC_BUFFER_PLAN_H_
#define SKERRY_MODEL_EXEC_BUFFER_PLAN_H_

#include <cstddef>

#include "model/exec/memory_plan.h"
#include "model/spec/graph.h"

namespace skerry::model {

// Sizes in floats.
struct BufferPlan {
  size_t values = 0;       // kept from forward for backward
  size_t gradients = 0;    // of values
  size_t head_tokens = 0;  // tokens whose logits are held at a time
  size_t logits = 0;
  size_t losses = 0;
  size_t lane_scratch = 0;  // of one thread
  size_t scratch = 0;       // of all
  size_t rotary = 0;        // each of two tables; 0 without rotary operators
};

// For up to `rows` sequences of up to `columns` tokens on `threads` threads.
BufferPlan PlanBuffers(const Graph& graph, const MemoryPlan& plan, int rows,
                       int columns, int threads);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_BUFFER_PLAN_H_
