// model/exec/memory_plan.h
//
// Assigns every value of a graph and its gradient a place in one array. The
// order of the operators decides the places once. All sizes are floats for each
// token.
//
// Values are kept from forward for backward. If blocks are recomputed, only the
// values between two blocks are kept, and the other values of all blocks share
// one place. A gradient lives only from its first writer to the producer of its
// value, so its place is used again.
#ifndef SKERRY_MODEL_EXEC_MEMORY_PLAN_H_
#define SKERRY_MODEL_EXEC_MEMORY_PLAN_H_

#include <cstdint>
#include <vector>

#include "model/exec/recompute.h"
#include "model/spec/graph.h"

namespace skerry::model {

struct OperatorPlan {
  // kLinear: the next operator adds the output to the residual stream, and
  // both run as one; the linear output has no place of its own.
  bool adds_to_residual = false;
  // kResidualAdd: done by the operator before.
  bool done_by_previous = false;
  // Backward adds to the gradient of inputs[0] (else it writes it first). Norms
  // and linear operators can; a graph may not ask it of others.
  bool accumulates = false;
  // What the operator keeps for backward beside its output: a norm's means and
  // reciprocal deviations, attention's log sums.
  int64_t kept_offset = 0;
  // Its output is gone when backward comes to its run, which runs it again.
  bool runs_again = false;
};

struct MemoryPlan {
  std::vector<int64_t> value_offset;     // kNone where a value has no place
  std::vector<int64_t> gradient_offset;  // likewise
  std::vector<OperatorPlan> operators;
  // The runs before the head (CutForRecompute). When forward is over, only the
  // values of the last one are there.
  std::vector<Stage> runs;
  int64_t floats_per_token = 0;
  int64_t value_floats_per_token = 0;  // of them, those kept from forward
};

// Plans the operators before the head. The head goes through its logits piece
// by piece, and only the gradient of its input has a place here. A stage's
// inputs have places of their own, and so have the gradients of its outputs,
// which are filled in before backward begins.
//
// Both inputs of a residual add share its output's gradient. So backward must
// go through the branch before anything else adds to the gradient of the
// stream: the branch's producer must follow every other reader of the stream.
// The graph must be like that, as those of all pre-norm transformers are.
// Rotary operators and dropout work in place, so each must be the only reader
// of its input. They leave values of other stages unchanged, because these may
// run again.
MemoryPlan PlanMemory(const Graph& graph,
                      Recompute recompute = Recompute::kNothing);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_MEMORY_PLAN_H_
