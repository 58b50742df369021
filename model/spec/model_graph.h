// model/spec/model_graph.h
//
// Builds the graph of a config of either family.
#ifndef SKERRY_MODEL_SPEC_MODEL_GRAPH_H_
#define SKERRY_MODEL_SPEC_MODEL_GRAPH_H_

#include "model/spec/graph.h"
#include "model/spec/model_config.h"

namespace skerry::model {

// Requires: ValidateModelConfig(config) is OK.
Graph BuildGraph(const ModelConfig& config);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_MODEL_GRAPH_H_
