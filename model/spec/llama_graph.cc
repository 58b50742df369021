#include "model/spec/llama_graph.h"

#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "model/spec/graph_builder.h"

namespace skerry::model {
namespace {

class Builder {
 public:
  explicit Builder(const ModelConfig& config) : config_(config) {}

  Graph Build() && {
    Operator embedding;
    embedding.kind = OperatorKind::kEmbedding;
    embedding.name = "model.embed_tokens";
    embedding.out_width = config_.n_embd;
    embedding.weight = graph_.layout().Add("model.embed_tokens.weight",
                                           {config_.vocab_size, config_.n_embd},
                                           Initializer::kNormal);
    const int table = embedding.weight;
    int stream = graph_.Emit(std::move(embedding));
    for (int layer = 0; layer < config_.n_layer; ++layer) {
      stream = Block(layer, stream);
    }
    const int last = Norm("model.norm", AddNorm("model.norm"), stream);
    Graph graph = std::move(graph_).Finish(
        last, config_.vocab_size, config_.tie_word_embeddings ? table : kNone);
    graph.rotary = config_.rotary;
    return graph;
  }

 private:
  // A layer's tensors, declared in the order of its checkpoint.
  struct Tensors {
    LinearTensors query, key, value, output, gate, up, down;
    int norm_1 = kNone;
    int norm_2 = kNone;
  };

  int AddNorm(const std::string& name) {
    return graph_.layout().Add(name + ".weight", {config_.n_embd},
                               Initializer::kOne);
  }

  Tensors AddTensors(const std::string& at) {
    const int width = config_.n_embd;
    const int inner = config_.inner_size();
    const int query_width = config_.n_head * config_.head_size();
    const int key_width = config_.kv_heads() * config_.head_size();
    const auto add = [&](const char* name, int in, int out, bool bias) {
      return graph_.AddLinear(at + name, in, out, /*transposed=*/true, bias,
                              Initializer::kNormal);
    };
    const bool bias = config_.attention_bias;
    Tensors tensors;
    tensors.query = add("self_attn.q_proj", width, query_width, bias);
    tensors.key = add("self_attn.k_proj", width, key_width, bias);
    tensors.value = add("self_attn.v_proj", width, key_width, bias);
    tensors.output = add("self_attn.o_proj", query_width, width, bias);
    tensors.gate = add("mlp.gate_proj", width, inner, config_.mlp_bias);
    tensors.up = add("mlp.up_proj", width, inner, config_.mlp_bias);
    tensors.down = add("mlp.down_proj", inner, width, config_.mlp_bias);
    tensors.norm_1 = AddNorm(at + "input_layernorm");
    tensors.norm_2 = AddNorm(at + "post_attention_layernorm");
    return tensors;
  }

  int Norm(const std::string& name, int weight, int input) {
    Operator op = GraphBuilder::SameWidth(OperatorKind::kRmsNorm, name, input,
                                          config_.n_embd);
    op.epsilon = config_.layer_norm_epsilon;
    op.weight = weight;
    return graph_.Emit(std::move(op));
  }

  int Turn(const std::string& name, int input, int heads) {
    Operator op = GraphBuilder::SameWidth(OperatorKind::kRotary, name, input,
                                          graph_.Width(input));
    op.heads = heads;
    return graph_.Emit(std::move(op));
  }

  int Attention(const std::string& name, int query, int key, int value) {
    Operator op = GraphBuilder::SameWidth(OperatorKind::kAttention, name, query,
                                          graph_.Width(query));
    op.inputs = {query, key, value};
    op.heads = config_.n_head;
    op.kv_heads = config_.kv_heads();
    op.attention_scale = static_cast<float>(
        1 / std::sqrt(static_cast<double>(config_.head_size())));
    op.token_access = TokenAccess::kEarlierTokens;
    graph_.DropProbabilities(config_.attn_pdrop, op);
    return graph_.Emit(std::move(op));
  }

  int Block(int layer, int stream) {
    const std::string at = absl::StrCat("model.layers.", layer, ".");
    const Tensors tensors = AddTensors(at);
    int branch = Norm(at + "input_layernorm", tensors.norm_1, stream);
    int query = graph_.Linear(at + "self_attn.q_proj", branch, tensors.query);
    int key = graph_.Linear(at + "self_attn.k_proj", branch, tensors.key);
    const int value =
        graph_.Linear(at + "self_attn.v_proj", branch, tensors.value);
    query = Turn(at + "self_attn.q_rotary", query, config_.n_head);
    key = Turn(at + "self_attn.k_rotary", key, config_.kv_heads());
    branch = Attention(at + "self_attn", query, key, value);
    branch = graph_.Linear(at + "self_attn.o_proj", branch, tensors.output);
    stream = graph_.Residual(at + "self_attn.residual", stream, branch);
    branch = Norm(at + "post_attention_layernorm", tensors.norm_2, stream);
    const int gate = graph_.Linear(at + "mlp.gate_proj", branch, tensors.gate);
    const int up = graph_.Linear(at + "mlp.up_proj", branch, tensors.up);
    Operator act = GraphBuilder::SameWidth(
        OperatorKind::kSwiGlu, at + "mlp.act", gate, graph_.Width(gate));
    act.inputs.push_back(up);
    branch = graph_.Emit(std::move(act));
    branch = graph_.Linear(at + "mlp.down_proj", branch, tensors.down);
    return graph_.Residual(at + "mlp.residual", stream, branch);
  }

  const ModelConfig& config_;
  GraphBuilder graph_;
};

}  // namespace

Graph BuildLlamaGraph(const ModelConfig& config) {
  SKERRY_CHECK(config.model_type == "llama" &&
               ValidateModelConfig(config).ok());
  return Builder(config).Build();
}

}  // namespace skerry::model
