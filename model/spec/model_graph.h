// model/spec/model_graph.h
//
// The graph of a config, whichever family it is of.
#ifndef SKERRY_MODEL_SPEC_MODEL_GRAPH_H_
#define SKERRY_MODEL_SPEC_MODEL_GRAPH_H_

#include "model/spec/graph.h"
#include "model/spec/model_config.h"

namespace skerry::model {

// Requires: ValidateModelConfig(config) is OK.
Graph BuildGraph(const ModelConfig& config);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_MODEL_GRAPH_H_
