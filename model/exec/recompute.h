// model/exec/recompute.h
//
// Decides which activations of a graph are discarded after forward and computed
// again during backward (Chen et al. 2016, "sublinear memory cost").
#ifndef SKERRY_MODEL_EXEC_RECOMPUTE_H_
#define SKERRY_MODEL_EXEC_RECOMPUTE_H_

#include <vector>

#include "model/spec/graph.h"

namespace skerry::model {

enum class Recompute {
  kNothing,
  // Keeps only the input of each block. The other values of all blocks share
  // one place.
  kBlocks,
};

// Cuts the operators before the head into runs of one attention each, at places
// where a single value goes on: the residual stream between two blocks. One run
// when there is nothing to be recomputed or no place to cut.
std::vector<Stage> CutForRecompute(const Graph& graph, Recompute recompute);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_RECOMPUTE_H_
