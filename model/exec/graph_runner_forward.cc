#include "base/check.h"
#include "model/cpu/activation.h"
#include "model/cpu/attention.h"
#include "model/cpu/embedding.h"
#include "model/cpu/layernorm.h"
#include "model/cpu/rows.h"
#include "model/exec/graph_runner.h"

namespace skerry::model {

using cpu::Transpose;

void GraphRunner::Forward(const TokenBlock& block,
                          std::span<const float> parameters) {
  SKERRY_CHECK(block.tokens() <= static_cast<size_t>(tokens_max_));
  block_ = block;
  for (int i = 0; i < BodySize(); ++i) {
    const Operator& op = graph_.operators[i];
    switch (op.kind) {
      case OperatorKind::kEmbedding:
        EmbeddingForward(op, parameters.data());
        break;
      case OperatorKind::kLayerNorm:
        LayerNormForward(i, parameters.data());
        break;
      case OperatorKind::kLinear:
        LinearForward(i, parameters.data());
        break;
      case OperatorKind::kAttention:
        AttentionForward(i);
        break;
      case OperatorKind::kActivation:
        ActivationForward(op);
        break;
      case OperatorKind::kResidualAdd:
        ResidualForward(i);
        break;
      case OperatorKind::kCrossEntropy:
        SKERRY_CHECK(false);
    }
  }
}

void GraphRunner::EmbeddingForward(const Operator& op,
                                   const float* parameters) {
  lanes_.ForRange(block_.tokens(), 1, [&](int, size_t begin, size_t end) {
    cpu::EmbeddingForward(
        static_cast<int>(end - begin), static_cast<int>(begin), block_.columns,
        op.out_width, block_.ids.data() + begin, Tensor(parameters, op.weight),
        Tensor(parameters, op.bias), ValueOf(op.output) + begin * op.out_width);
  });
}

void GraphRunner::LayerNormForward(int index, const float* parameters) {
  const Operator& op = graph_.operators[index];
  float* mean = At(plan_.operators[index].kept_offset);
  float* rstd = mean + tokens_max_;
  lanes_.ForRange(block_.tokens(), 1, [&](int, size_t begin, size_t end) {
    const size_t first = begin * op.out_width;
    cpu::LayerNormForward(
        static_cast<int>(end - begin), op.out_width, op.epsilon,
        ValueOf(op.inputs[0]) + first, Tensor(parameters, op.weight),
        Tensor(parameters, op.bias), ValueOf(op.output) + first, mean + begin,
        rstd + begin);
  });
}

// The bias, and the residual stream where the next operator would add it, are
// laid down first; the product is added to them.
void GraphRunner::LinearForward(int index, const float* parameters) {
  const Operator& op = graph_.operators[index];
  SKERRY_CHECK(op.bias != kNone && !op.weight_is_transposed);
  const bool adds = plan_.operators[index].adds_to_residual;
  const float* bias = Tensor(parameters, op.bias);
  const float* weight = Tensor(parameters, op.weight);
  const float* in = ValueOf(op.inputs[0]);
  const Operator& next = graph_.operators[index + 1];
  float* out = ValueOf(adds ? next.output : op.output);
  const float* stream = adds ? ValueOf(next.inputs[0]) : nullptr;
  lanes_.ForRange(block_.tokens(), 1, [&](int, size_t begin, size_t end) {
    const int rows = static_cast<int>(end - begin);
    float* part = out + begin * op.out_width;
    if (adds) {
      cpu::AddBias(rows, op.out_width, stream + begin * op.out_width, bias,
                   part);
    } else {
      cpu::FillRows(rows, op.out_width, bias, part);
    }
    gemm_.Multiply(
        {Transpose::kNo, Transpose::kNo, rows, op.out_width, op.in_width},
        in + begin * op.in_width, op.in_width, weight, op.out_width, 1.0f, part,
        op.out_width);
  });
}

void GraphRunner::AttentionForward(int index) {
  const Operator& op = graph_.operators[index];
  const size_t width = static_cast<size_t>(op.out_width);
  const size_t stride = static_cast<size_t>(op.in_width);
  const size_t head = width / op.heads;
  const size_t columns = static_cast<size_t>(block_.columns);
  const cpu::AttentionShape shape{.columns = block_.columns,
                                  .head_size = static_cast<int>(head),
                                  .stride = stride,
                                  .out_stride = width,
                                  .scale = op.attention_scale};
  const float* in = ValueOf(op.inputs[0]);
  float* out = ValueOf(op.output);
  float* log_sums = At(plan_.operators[index].kept_offset);
  const size_t heads = static_cast<size_t>(op.heads);
  lanes_.ForRange(
      block_.rows * heads, 1, [&](int lane, size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          const size_t token = i / heads * columns;
          const float* query = in + token * stride + i % heads * head;
          cpu::AttentionForward(shape, query, query + width, query + 2 * width,
                                out + token * width + i % heads * head,
                                log_sums + i * columns,
                                {LaneScratch(lane), lane_scratch_size_});
        }
      });
}

void GraphRunner::ActivationForward(const Operator& op) {
  lanes_.ForRange(block_.tokens(), 1, [&](int, size_t begin, size_t end) {
    const size_t first = begin * op.out_width;
    cpu::ActivationForward(op.activation, (end - begin) * op.out_width,
                           ValueOf(op.inputs[0]) + first,
                           ValueOf(op.output) + first);
  });
}

void GraphRunner::ResidualForward(int index) {
  if (plan_.operators[index].done_by_previous) return;
  const Operator& op = graph_.operators[index];
  lanes_.ForRange(block_.tokens(), 1, [&](int, size_t begin, size_t end) {
    const size_t first = begin * op.out_width;
    cpu::Add((end - begin) * op.out_width, ValueOf(op.inputs[0]) + first,
             ValueOf(op.inputs[1]) + first, ValueOf(op.output) + first);
  });
}

}  // namespace skerry::model
