// model/spec/llama_graph.h
//
// Llama (Touvron et al. 2023) as a graph: pre-norm blocks of causal attention
// with rotary positions and grouped key and value heads, and a gated MLP.
#ifndef SKERRY_MODEL_SPEC_LLAMA_GRAPH_H_
#define SKERRY_MODEL_SPEC_LLAMA_GRAPH_H_

#include "model/spec/graph.h"
#include "model/spec/model_config.h"

namespace skerry::model {

// Requires: ValidateModelConfig(config) is OK and its model_type is "llama".
//
// Tensors have the names and the order of transformers' LlamaForCausalLM; its
// linear weights lie as [out, in]. A tied head has no tensor of its own: its
// operator names model.embed_tokens.weight, [vocab, width].
Graph BuildLlamaGraph(const ModelConfig& config);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_LLAMA_GRAPH_H_
