#include "model/spec/model_graph.h"

#include "model/spec/gpt2_graph.h"
#include "model/spec/llama_graph.h"

namespace skerry::model {

Graph BuildGraph(const ModelConfig& config) {
  return config.model_type == "llama" ? BuildLlamaGraph(config)
                                      : BuildGpt2Graph(config);
}

}  // namespace skerry::model
