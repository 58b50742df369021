// model/spec/balanced_cut.h
//
// Chooses where to cut a graph so that its stages take about equally long.
#ifndef SKERRY_MODEL_SPEC_BALANCED_CUT_H_
#define SKERRY_MODEL_SPEC_BALANCED_CUT_H_

#include <vector>

#include "model/spec/graph.h"

namespace skerry::model {

// The cuts into `stages` stages (positions of CutPositions) whose largest
// stage, in floating-point operations forward and backward, is at most 1 %
// larger than it has to be; of those, cuts that send the fewest bytes. Devices
// are taken to be of one speed.
//
// Requires: `stages` is 1 to CutPositions(graph).size() + 1; `rows` sequences
// of `columns` tokens, both positive. Time grows with stages * operators^2.
std::vector<int> BalancedCut(const Graph& graph, int stages, int rows,
                             int columns);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_BALANCED_CUT_H_
