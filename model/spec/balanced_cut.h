// model/spec/balanced_cut.h
//
// Chooses where to cut a graph so that its stages take about equally long.
#ifndef SKERRY_MODEL_SPEC_BALANCED_CUT_H_
#define SKERRY_MODEL_SPEC_BALANCED_CUT_H_

#include <vector>

#include "model/spec/graph.h"

namespace skerry::model {

// Returns cuts into `stages` stages (positions of CutPositions). The largest
// stage, in floating-point operations forward and backward, is at most 1 %
// larger than it has to be. Among such cuts it returns those that send the
// fewest bytes. Devices are assumed to be equally fast.
//
// Requires: `stages` is 1 to CutPositions(graph).size() + 1; `rows` sequences
// of `columns` tokens, both positive. Time grows with stages * operators^2.
std::vector<int> BalancedCut(const Graph& graph, int stages, int rows,
                             int columns);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_BALANCED_CUT_H_
