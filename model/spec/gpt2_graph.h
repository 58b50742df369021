// model/spec/gpt2_graph.h
//
// GPT-2 (Radford et al. 2019) as a graph: pre-norm blocks of causal attention
// and a two-layer MLP between the embeddings and a language-model head.
#ifndef SKERRY_MODEL_SPEC_GPT2_GRAPH_H_
#define SKERRY_MODEL_SPEC_GPT2_GRAPH_H_

#include "model/spec/graph.h"
#include "model/spec/model_config.h"

namespace skerry::model {

// Requires: ValidateModelConfig(config) is OK.
//
// Tensor names are those of transformers' GPT2LMHeadModel. Its Conv1D weights
// lie as [in, out]. A tied head has no tensor of its own: its operator names
// transformer.wte.weight, [vocab, width].
Graph BuildGpt2Graph(const ModelConfig& config);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_GPT2_GRAPH_H_
