#include "model/spec/gpt2_graph.h"

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
    int stream = Embedding();
    for (int layer = 0; layer < config_.n_layer; ++layer) {
      stream = Block(layer, stream);
    }
    const int last = LayerNorm("transformer.ln_f", stream);
    return std::move(graph_).Finish(
        last, config_.vocab_size,
        config_.tie_word_embeddings ? token_table_ : kNone);
  }

 private:
  int Embedding() {
    Operator op;
    op.kind = OperatorKind::kEmbedding;
    op.name = "transformer.embedding";
    op.out_width = config_.n_embd;
    op.weight = graph_.layout().Add("transformer.wte.weight",
                                    {config_.vocab_size, config_.n_embd},
                                    Initializer::kNormal);
    op.bias = graph_.layout().Add("transformer.wpe.weight",
                                  {config_.n_positions, config_.n_embd},
                                  Initializer::kNormal);
    token_table_ = op.weight;
    return graph_.Dropout("transformer.drop", graph_.Emit(std::move(op)),
                          config_.embd_pdrop);
  }

  int LayerNorm(const std::string& name, int input) {
    Operator op = GraphBuilder::SameWidth(OperatorKind::kLayerNorm, name, input,
                                          config_.n_embd);
    op.epsilon = config_.layer_norm_epsilon;
    op.weight = graph_.layout().Add(name + ".weight", {op.out_width},
                                    Initializer::kOne);
    op.bias =
        graph_.layout().Add(name + ".bias", {op.out_width}, Initializer::kZero);
    return graph_.Emit(std::move(op));
  }

  int Linear(const std::string& name, int input, int out_width,
             Initializer initializer) {
    return graph_.Linear(
        name, input,
        graph_.AddLinear(name, graph_.Width(input), out_width,
                         /*transposed=*/false, /*bias=*/true, initializer));
  }

  int Attention(const std::string& name, int layer, int qkv) {
    Operator op;
    op.kind = OperatorKind::kAttention;
    op.name = name;
    op.inputs = {qkv};
    op.in_width = graph_.Width(qkv);
    op.out_width = config_.n_embd;
    op.heads = op.kv_heads = config_.n_head;
    double scale = 1;
    if (config_.scale_attn_weights) {
      scale /= std::sqrt(static_cast<double>(config_.head_size()));
    }
    if (config_.scale_attn_by_inverse_layer_idx) scale /= layer + 1;
    op.attention_scale = static_cast<float>(scale);
    op.token_access = TokenAccess::kEarlierTokens;
    graph_.DropProbabilities(config_.attn_pdrop, op);
    return graph_.Emit(std::move(op));
  }

  int Activate(const std::string& name, int input) {
    Operator op = GraphBuilder::SameWidth(OperatorKind::kActivation, name,
                                          input, graph_.Width(input));
    op.activation = config_.activation;
    return graph_.Emit(std::move(op));
  }

  int Block(int layer, int stream) {
    const std::string at = absl::StrCat("transformer.h.", layer, ".");
    int branch = LayerNorm(at + "ln_1", stream);
    branch = Linear(at + "attn.c_attn", branch, 3 * config_.n_embd,
                    Initializer::kNormal);
    branch = Attention(at + "attn", layer, branch);
    branch = Linear(at + "attn.c_proj", branch, config_.n_embd,
                    Initializer::kResidualNormal);
    branch =
        graph_.Dropout(at + "attn.resid_dropout", branch, config_.resid_pdrop);
    stream = graph_.Residual(at + "attn.residual", stream, branch);
    branch = LayerNorm(at + "ln_2", stream);
    branch = Linear(at + "mlp.c_fc", branch, config_.inner_size(),
                    Initializer::kNormal);
    branch = Activate(at + "mlp.act", branch);
    branch = Linear(at + "mlp.c_proj", branch, config_.n_embd,
                    Initializer::kResidualNormal);
    branch = graph_.Dropout(at + "mlp.dropout", branch, config_.resid_pdrop);
    return graph_.Residual(at + "mlp.residual", stream, branch);
  }

  const ModelConfig& config_;
  GraphBuilder graph_;
  int token_table_ = kNone;
};

}  // namespace

Graph BuildGpt2Graph(const ModelConfig& config) {
  SKERRY_CHECK(config.model_type == "gpt2" && ValidateModelConfig(config).ok());
  return Builder(config).Build();
}

}  // namespace skerry::model
