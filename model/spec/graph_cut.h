// model/spec/graph_cut.h
//
// Cuts the graph of a model into stages that run one after another. Each is a
// graph of its own with only the tensors that it needs. Its inputs and outputs
// are the values that it exchanges with other stages. SharedTensors has the
// tensors that several stages train.
#ifndef SKERRY_MODEL_SPEC_GRAPH_CUT_H_
#define SKERRY_MODEL_SPEC_GRAPH_CUT_H_

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "model/spec/graph.h"

namespace skerry::model {

// Returns where a graph can be cut. Position i is the edge between operators i
// - 1 and i. A graph cannot be cut inside operators that run as one: a linear
// operator and the add that takes its output to the residual stream, and the
// head and the loss, whose logits are never all there at once.
std::vector<int> CutPositions(const Graph& graph);

// Errors: InvalidArgument for cuts that do not ascend or are not at a position
// of CutPositions.
absl::Status ValidateCuts(const Graph& graph, std::span<const int> cuts);

struct StageGraph {
  Stage operators;  // of the whole graph
  Graph graph;
  // Values and tensors of `graph` by their number in the whole; both ascend, so
  // the stage's flat parameters are slices of the whole's in their order.
  std::vector<int> values;
  std::vector<int> tensors;
};

// cuts.size() + 1 stages. The outputs of one and the inputs of the next are the
// same values in the same order.
//
// Requires: ValidateCuts is OK; `graph` is whole.
std::vector<StageGraph> CutGraph(const Graph& graph, std::span<const int> cuts);

// A tensor that several stages read, as a tied head and its embedding do.
//
// Its gradient is one running sum, to which the last of these stages adds
// first, because that is the order of the whole graph. So the sum goes from
// stage to stage with the backward pass of each micro-batch, and back to the
// last stage before the next one. Sums that are made apart and added later
// would have other bits.
struct SharedTensor {
  int tensor = kNone;  // of the whole graph
  std::vector<int> stages;
};
std::vector<SharedTensor> SharedTensors(std::span<const StageGraph> stages);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_GRAPH_CUT_H_
