#include <algorithm>

#include "base/check.h"
#include "model/cpu/activation.h"
#include "model/cpu/attention.h"
#include "model/cpu/attention_blocks.h"
#include "model/cpu/embedding.h"
#include "model/cpu/layernorm.h"
#include "model/cpu/rmsnorm.h"
#include "model/cpu/rotate.h"
#include "model/cpu/rows.h"
#include "model/cpu/swiglu.h"
#include "model/exec/attention_places.h"
#include "model/exec/graph_runner.h"

namespace skerry::model {

using cpu::Transpose;

void GraphRunner::Forward(const TokenBlock& block,
                          std::span<const float> parameters) {
  SKERRY_CHECK(block.tokens() <= static_cast<size_t>(tokens_max_));
  SKERRY_CHECK(block.columns <= columns_max_);
  SKERRY_CHECK(block.samples.empty() ||
               block.samples.size() == static_cast<size_t>(block.rows));
  block_ = block;
  PrepareRotary(block.columns);
  const int body = BodySize(graph_);
  for (int i = 0; i < body; ++i) ForwardOne(i, parameters.data());
}

void GraphRunner::ForwardOne(int index, const float* parameters) {
  const Operator& op = graph_.operators[index];
  switch (op.kind) {
    case OperatorKind::kEmbedding:
      return EmbeddingForward(op, parameters);
    case OperatorKind::kLayerNorm:
      return LayerNormForward(index, parameters);
    case OperatorKind::kRmsNorm:
      return RmsNormForward(index, parameters);
    case OperatorKind::kRotary:
      return RotaryForward(op);
    case OperatorKind::kSwiGlu:
      return SwiGluForward(op);
    case OperatorKind::kLinear:
      return LinearForward(index, parameters);
    case OperatorKind::kAttention:
      return AttentionForward(index);
    case OperatorKind::kActivation:
      return ActivationForward(op);
    case OperatorKind::kResidualAdd:
      return ResidualForward(index);
    case OperatorKind::kDropout:
      return DropoutForward(op);
    case OperatorKind::kCrossEntropy:
      SKERRY_CHECK(false);
  }
}

void GraphRunner::EmbeddingForward(const Operator& op,
                                   const float* parameters) {
  SKERRY_CHECK(block_.ids.size() == block_.tokens());
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

void GraphRunner::RmsNormForward(int index, const float* parameters) {
  const Operator& op = graph_.operators[index];
  float* rstd = At(plan_.operators[index].kept_offset);
  lanes_.ForRange(block_.tokens(), 1, [&](int, size_t begin, size_t end) {
    const size_t first = begin * op.out_width;
    cpu::RmsNormForward(static_cast<int>(end - begin), op.out_width, op.epsilon,
                        ValueOf(op.inputs[0]) + first,
                        Tensor(parameters, op.weight),
                        ValueOf(op.output) + first, rstd + begin);
  });
}

// The bias, and the residual stream where the next operator would add it, are
// laid down first; the product is added to them.
void GraphRunner::LinearForward(int index, const float* parameters) {
  const Operator& op = graph_.operators[index];
  const bool adds = plan_.operators[index].adds_to_residual;
  const bool transposed = op.weight_is_transposed;
  const float* bias = Tensor(parameters, op.bias);
  const float* weight = Tensor(parameters, op.weight);
  const float* in = ValueOf(op.inputs[0]);
  const Operator* next = adds ? &graph_.operators[index + 1] : nullptr;
  float* out = ValueOf(adds ? next->output : op.output);
  const float* stream = adds ? ValueOf(next->inputs[0]) : nullptr;
  lanes_.ForRange(block_.tokens(), 1, [&](int, size_t begin, size_t end) {
    const int rows = static_cast<int>(end - begin);
    const size_t first = begin * op.out_width;
    float* part = out + first;
    if (adds && bias != nullptr) {
      cpu::AddBias(rows, op.out_width, stream + first, bias, part);
    } else if (adds) {
      std::copy(stream + first, stream + end * op.out_width, part);
    } else if (bias != nullptr) {
      cpu::FillRows(rows, op.out_width, bias, part);
    }
  });
  Multiply({Transpose::kNo, transposed ? Transpose::kYes : Transpose::kNo,
            static_cast<int>(block_.tokens()), op.out_width, op.in_width},
           in, op.in_width, weight, transposed ? op.in_width : op.out_width,
           adds || bias != nullptr ? 1.0f : 0.0f, out, op.out_width);
}

void GraphRunner::RotaryForward(const Operator& op) {
  const float* in = ValueOf(op.inputs[0]);
  float* out = ValueOf(op.output);
  lanes_.ForRange(block_.tokens(), 1, [&](int, size_t begin, size_t end) {
    const size_t first = begin * op.out_width;
    if (in != out) std::copy(in + first, in + end * op.out_width, out + first);
    cpu::RotateForward(RotationOf(op, begin, end), cosines_.get(), sines_.get(),
                       out + first);
  });
}

void GraphRunner::AttentionForward(int index) {
  const Operator& op = graph_.operators[index];
  const AttentionPlaces places(graph_, op, block_.columns);
  const cpu::AttentionShape& shape = places.shape;
  const float* query = ValueOf(op.inputs.front()) + places.query;
  const float* key = ValueOf(op.inputs[op.inputs.size() / 2]) + places.key;
  const float* value = ValueOf(op.inputs.back()) + places.value;
  float* out = ValueOf(op.output);
  float* log_sums = At(plan_.operators[index].kept_offset);
  const size_t columns = static_cast<size_t>(block_.columns);
  const size_t heads = static_cast<size_t>(op.kv_heads);
  const size_t size = static_cast<size_t>(shape.head_size);
  lanes_.ForRange(
      block_.rows * heads, 1, [&](int lane, size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          const size_t token = i / heads * columns;
          const size_t head = i % heads * size;
          const size_t queries = head * shape.group;
          const size_t keys = token * shape.key_stride + head;
          const cpu::DropoutMask mask =
              MaskOf(op, i / heads, i % heads * shape.group);
          cpu::AttentionShape dropping = shape;
          if (mask.threshold > 0) dropping.dropout = &mask;
          const float* q = query + token * shape.query_stride + queries;
          float* o = out + token * shape.out_stride + queries;
          float* sums = log_sums + i * shape.group * columns;
          const std::span<float> scratch = {LaneScratch(lane),
                                            buffers_.lane_scratch};
          if (gemm_.multiplies_attention()) {
            cpu::BlockAttentionForward(gemm_, dropping, q, key + keys,
                                       value + keys, o, sums, scratch);
          } else {
            cpu::AttentionForward(dropping, q, key + keys, value + keys, o,
                                  sums, scratch);
          }
        }
      });
}

void GraphRunner::SwiGluForward(const Operator& op) {
  lanes_.ForRange(block_.tokens(), 1, [&](int, size_t begin, size_t end) {
    const size_t first = begin * op.out_width;
    cpu::SwiGluForward(
        (end - begin) * op.out_width, ValueOf(op.inputs[0]) + first,
        ValueOf(op.inputs[1]) + first, ValueOf(op.output) + first);
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
