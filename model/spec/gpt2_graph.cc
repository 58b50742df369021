#include "model/spec/gpt2_graph.h"

#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::model {
namespace {

class Builder {
 public:
  explicit Builder(const ModelConfig& config) : config_(config) {}

  Graph Build() && {
    int stream = Embedding();
    for (int layer = 0; layer < config_.n_layer; ++layer) {
      stream = Block(layer, stream);
    }
    const int last = LayerNorm("transformer.ln_f", stream);
    const int logits = Head(last);
    Operator loss;
    loss.kind = OperatorKind::kCrossEntropy;
    loss.name = "loss";
    loss.inputs = {logits};
    loss.in_width = config_.vocab_size;
    loss.out_width = 1;
    graph_.operators.push_back(std::move(loss));
    return std::move(graph_);
  }

 private:
  int Width(int value) const { return graph_.values[value].width; }

  // Appends `op`, which makes a new value of its out_width.
  int Emit(Operator op) {
    graph_.values.push_back({op.name, op.out_width});
    op.output = static_cast<int>(graph_.values.size()) - 1;
    graph_.operators.push_back(std::move(op));
    return graph_.operators.back().output;
  }

  int Embedding() {
    Operator op;
    op.kind = OperatorKind::kEmbedding;
    op.name = "transformer.embedding";
    op.out_width = config_.n_embd;
    op.weight = graph_.layout.Add("transformer.wte.weight",
                                  {config_.vocab_size, config_.n_embd},
                                  Initializer::kNormal);
    op.bias = graph_.layout.Add("transformer.wpe.weight",
                                {config_.n_positions, config_.n_embd},
                                Initializer::kNormal);
    token_table_ = op.weight;
    return Emit(std::move(op));
  }

  int LayerNorm(const std::string& name, int input) {
    Operator op;
    op.kind = OperatorKind::kLayerNorm;
    op.name = name;
    op.inputs = {input};
    op.in_width = op.out_width = Width(input);
    op.epsilon = config_.layer_norm_epsilon;
    op.weight =
        graph_.layout.Add(name + ".weight", {op.out_width}, Initializer::kOne);
    op.bias =
        graph_.layout.Add(name + ".bias", {op.out_width}, Initializer::kZero);
    return Emit(std::move(op));
  }

  int Linear(const std::string& name, int input, int out_width,
             Initializer initializer) {
    Operator op;
    op.kind = OperatorKind::kLinear;
    op.name = name;
    op.inputs = {input};
    op.in_width = Width(input);
    op.out_width = out_width;
    op.weight = graph_.layout.Add(name + ".weight", {op.in_width, out_width},
                                  initializer);
    op.bias =
        graph_.layout.Add(name + ".bias", {out_width}, Initializer::kZero);
    return Emit(std::move(op));
  }

  int Attention(const std::string& name, int layer, int qkv) {
    Operator op;
    op.kind = OperatorKind::kAttention;
    op.name = name;
    op.inputs = {qkv};
    op.in_width = Width(qkv);
    op.out_width = config_.n_embd;
    op.heads = config_.n_head;
    double scale = 1;
    if (config_.scale_attn_weights) {
      scale /= std::sqrt(static_cast<double>(config_.head_size()));
    }
    if (config_.scale_attn_by_inverse_layer_idx) scale /= layer + 1;
    op.attention_scale = static_cast<float>(scale);
    op.token_access = TokenAccess::kEarlierTokens;
    return Emit(std::move(op));
  }

  int Activate(const std::string& name, int input) {
    Operator op;
    op.kind = OperatorKind::kActivation;
    op.name = name;
    op.inputs = {input};
    op.in_width = op.out_width = Width(input);
    op.activation = config_.activation;
    return Emit(std::move(op));
  }

  int Add(const std::string& name, int stream, int branch) {
    Operator op;
    op.kind = OperatorKind::kResidualAdd;
    op.name = name;
    op.inputs = {stream, branch};
    op.in_width = op.out_width = Width(stream);
    return Emit(std::move(op));
  }

  int Block(int layer, int stream) {
    const std::string at = absl::StrCat("transformer.h.", layer, ".");
    int branch = LayerNorm(at + "ln_1", stream);
    branch = Linear(at + "attn.c_attn", branch, 3 * config_.n_embd,
                    Initializer::kNormal);
    branch = Attention(at + "attn", layer, branch);
    branch = Linear(at + "attn.c_proj", branch, config_.n_embd,
                    Initializer::kResidualNormal);
    stream = Add(at + "attn.residual", stream, branch);
    branch = LayerNorm(at + "ln_2", stream);
    branch = Linear(at + "mlp.c_fc", branch, config_.inner_size(),
                    Initializer::kNormal);
    branch = Activate(at + "mlp.act", branch);
    branch = Linear(at + "mlp.c_proj", branch, config_.n_embd,
                    Initializer::kResidualNormal);
    return Add(at + "mlp.residual", stream, branch);
  }

  int Head(int input) {
    Operator op;
    op.kind = OperatorKind::kLinear;
    op.name = "lm_head";
    op.inputs = {input};
    op.in_width = Width(input);
    op.out_width = config_.vocab_size;
    op.weight_is_transposed = true;
    op.weight = config_.tie_word_embeddings
                    ? token_table_
                    : graph_.layout.Add("lm_head.weight",
                                        {config_.vocab_size, config_.n_embd},
                                        Initializer::kNormal);
    return Emit(std::move(op));
  }

  const ModelConfig& config_;
  Graph graph_;
  int token_table_ = kNone;
};

}  // namespace

Graph BuildGpt2Graph(const ModelConfig& config) {
  SKERRY_CHECK(ValidateModelConfig(config).ok());
  return Builder(config).Build();
}

}  // namespace skerry::model
