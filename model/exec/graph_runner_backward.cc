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
namespace {

// Columns that one thread sums over all tokens: a cache line.
constexpr size_t kColumnGrain = 16;

}  // namespace

using cpu::Transpose;

void GraphRunner::Backward(std::span<const float> parameters,
                           std::span<float> gradients) {
  for (size_t r = plan_.runs.size(); r-- > 0;) {
    const Stage& run = plan_.runs[r];
    for (int i = run.begin; i < run.end; ++i) {
      if (plan_.operators[i].runs_again) ForwardOne(i, parameters.data());
    }
    for (int i = run.end - 1; i >= run.begin; --i) {
      BackwardOne(i, parameters.data(), gradients.data());
    }
  }
}

void GraphRunner::BackwardOne(int index, const float* parameters,
                              float* gradients) {
  const Operator& op = graph_.operators[index];
  switch (op.kind) {
    case OperatorKind::kEmbedding:
      return EmbeddingBackward(op, gradients);
    case OperatorKind::kLayerNorm:
      return LayerNormBackward(index, parameters, gradients);
    case OperatorKind::kRmsNorm:
      return RmsNormBackward(index, parameters, gradients);
    case OperatorKind::kRotary:
      return RotaryBackward(op);
    case OperatorKind::kSwiGlu:
      return SwiGluBackward(op);
    case OperatorKind::kLinear:
      return LinearBackward(index, parameters, gradients);
    case OperatorKind::kAttention:
      return AttentionBackward(index);
    case OperatorKind::kActivation:
      return ActivationBackward(index);
    case OperatorKind::kDropout:
      return DropoutBackward(index);
    case OperatorKind::kResidualAdd:
      return;  // both inputs share the output's gradient (PlanMemory)
    case OperatorKind::kCrossEntropy:
      SKERRY_CHECK(false);
  }
}

void GraphRunner::EmbeddingBackward(const Operator& op, float* gradients) {
  lanes_.ForRange(
      op.out_width, kColumnGrain, [&](int, size_t begin, size_t end) {
        cpu::EmbeddingBackward(
            static_cast<int>(block_.tokens()), block_.columns, op.out_width,
            static_cast<int>(begin), static_cast<int>(end), block_.ids.data(),
            GradientOf(op.output), Tensor(gradients, op.weight),
            Tensor(gradients, op.bias));
      });
}

// Each lane sums the gradients of weight and bias over its tokens; the lanes'
// sums are then added in their order.
void GraphRunner::LayerNormBackward(int index, const float* parameters,
                                    float* gradients) {
  const Operator& op = graph_.operators[index];
  const size_t width = static_cast<size_t>(op.out_width);
  const float* mean = At(plan_.operators[index].kept_offset);
  const float* rstd = mean + tokens_max_;
  for (int lane = 0; lane < lanes_.count(); ++lane) {
    std::fill(LaneScratch(lane), LaneScratch(lane) + 2 * width, 0.0f);
  }
  lanes_.ForRange(block_.tokens(), 1, [&](int lane, size_t begin, size_t end) {
    const size_t first = begin * width;
    cpu::LayerNormBackward(
        static_cast<int>(end - begin), op.out_width,
        ValueOf(op.inputs[0]) + first, Tensor(parameters, op.weight),
        mean + begin, rstd + begin, GradientOf(op.output) + first,
        plan_.operators[index].accumulates, GradientOf(op.inputs[0]) + first,
        LaneScratch(lane), LaneScratch(lane) + width);
  });
  float* dweight = Tensor(gradients, op.weight);
  float* dbias = Tensor(gradients, op.bias);
  for (int lane = 0; lane < lanes_.count(); ++lane) {
    cpu::Add(width, dweight, LaneScratch(lane), dweight);
    cpu::Add(width, dbias, LaneScratch(lane) + width, dbias);
  }
}

void GraphRunner::RmsNormBackward(int index, const float* parameters,
                                  float* gradients) {
  const Operator& op = graph_.operators[index];
  const size_t width = static_cast<size_t>(op.out_width);
  const float* rstd = At(plan_.operators[index].kept_offset);
  for (int lane = 0; lane < lanes_.count(); ++lane) {
    std::fill(LaneScratch(lane), LaneScratch(lane) + width, 0.0f);
  }
  lanes_.ForRange(block_.tokens(), 1, [&](int lane, size_t begin, size_t end) {
    const size_t first = begin * width;
    cpu::RmsNormBackward(static_cast<int>(end - begin), op.out_width,
                         ValueOf(op.inputs[0]) + first,
                         Tensor(parameters, op.weight), rstd + begin,
                         GradientOf(op.output) + first,
                         plan_.operators[index].accumulates,
                         GradientOf(op.inputs[0]) + first, LaneScratch(lane));
  });
  float* dweight = Tensor(gradients, op.weight);
  for (int lane = 0; lane < lanes_.count(); ++lane) {
    cpu::Add(width, dweight, LaneScratch(lane), dweight);
  }
}

void GraphRunner::LinearBackward(int index, const float* parameters,
                                 float* gradients) {
  const Operator& op = graph_.operators[index];
  const int tokens = static_cast<int>(block_.tokens());
  const float* in = ValueOf(op.inputs[0]);
  const float* dout = GradientOf(op.output);
  const float* weight = Tensor(parameters, op.weight);
  float* dweight = Tensor(gradients, op.weight);
  const float beta = plan_.operators[index].accumulates ? 1.0f : 0.0f;
  if (op.weight_is_transposed) {
    Multiply(
        {Transpose::kYes, Transpose::kNo, op.out_width, op.in_width, tokens},
        dout, op.out_width, in, op.in_width, 1.0f, dweight, op.in_width);
    Multiply(
        {Transpose::kNo, Transpose::kNo, tokens, op.in_width, op.out_width},
        dout, op.out_width, weight, op.in_width, beta, GradientOf(op.inputs[0]),
        op.in_width);
  } else {
    Multiply(
        {Transpose::kYes, Transpose::kNo, op.in_width, op.out_width, tokens},
        in, op.in_width, dout, op.out_width, 1.0f, dweight, op.out_width);
    Multiply(
        {Transpose::kNo, Transpose::kYes, tokens, op.in_width, op.out_width},
        dout, op.out_width, weight, op.out_width, beta,
        GradientOf(op.inputs[0]), op.in_width);
  }
  if (op.bias == kNone) return;
  lanes_.ForRange(
      op.out_width, kColumnGrain, [&](int, size_t begin, size_t end) {
        cpu::AddColumnSums(tokens, op.out_width, static_cast<int>(begin),
                           static_cast<int>(end), dout,
                           Tensor(gradients, op.bias));
      });
}

void GraphRunner::RotaryBackward(const Operator& op) {
  lanes_.ForRange(block_.tokens(), 1, [&](int, size_t begin, size_t end) {
    cpu::RotateBackward(RotationOf(op, begin, end), cosines_.get(),
                        sines_.get(),
                        GradientOf(op.output) + begin * op.out_width);
  });
}

void GraphRunner::AttentionBackward(int index) {
  const Operator& op = graph_.operators[index];
  SKERRY_CHECK(!plan_.operators[index].accumulates);
  const AttentionPlaces places(graph_, op, block_.columns);
  const cpu::AttentionShape& shape = places.shape;
  const int key_input = op.inputs[op.inputs.size() / 2];
  const float* query = ValueOf(op.inputs.front()) + places.query;
  const float* key = ValueOf(key_input) + places.key;
  const float* value = ValueOf(op.inputs.back()) + places.value;
  float* dquery = GradientOf(op.inputs.front()) + places.query;
  float* dkey = GradientOf(key_input) + places.key;
  float* dvalue = GradientOf(op.inputs.back()) + places.value;
  const float* out = ValueOf(op.output);
  const float* dout = GradientOf(op.output);
  const float* log_sums = At(plan_.operators[index].kept_offset);
  const size_t columns = static_cast<size_t>(block_.columns);
  const size_t heads = static_cast<size_t>(op.kv_heads);
  const size_t size = static_cast<size_t>(shape.head_size);
  lanes_.ForRange(
      block_.rows * heads, 1, [&](int lane, size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          const size_t token = i / heads * columns;
          const size_t head = i % heads * size;
          const size_t queries =
              token * shape.query_stride + head * shape.group;
          const size_t keys = token * shape.key_stride + head;
          const size_t outs = token * shape.out_stride + head * shape.group;
          const cpu::DropoutMask mask =
              MaskOf(op, i / heads, i % heads * shape.group);
          cpu::AttentionShape dropping = shape;
          if (mask.threshold > 0) dropping.dropout = &mask;
          const float* sums = log_sums + i * shape.group * columns;
          const cpu::AttentionGradients gradients = {
              dquery + queries, dkey + keys, dvalue + keys};
          const std::span<float> scratch = {LaneScratch(lane),
                                            buffers_.lane_scratch};
          if (gemm_.multiplies_attention()) {
            cpu::BlockAttentionBackward(gemm_, dropping, query + queries,
                                        key + keys, value + keys, out + outs,
                                        sums, dout + outs, gradients, scratch);
          } else {
            cpu::AttentionBackward(dropping, query + queries, key + keys,
                                   value + keys, out + outs, sums, dout + outs,
                                   gradients, scratch);
          }
        }
      });
}

// The gradient of `up` may lie over that of the output.
void GraphRunner::SwiGluBackward(const Operator& op) {
  lanes_.ForRange(block_.tokens(), 1, [&](int, size_t begin, size_t end) {
    const size_t first = begin * op.out_width;
    cpu::SwiGluBackward(
        (end - begin) * op.out_width, ValueOf(op.inputs[0]) + first,
        ValueOf(op.inputs[1]) + first, GradientOf(op.output) + first,
        GradientOf(op.inputs[0]) + first, GradientOf(op.inputs[1]) + first);
  });
}

void GraphRunner::ActivationBackward(int index) {
  const Operator& op = graph_.operators[index];
  SKERRY_CHECK(!plan_.operators[index].accumulates);
  lanes_.ForRange(block_.tokens(), 1, [&](int, size_t begin, size_t end) {
    const size_t first = begin * op.out_width;
    cpu::ActivationBackward(op.activation, (end - begin) * op.out_width,
                            ValueOf(op.inputs[0]) + first,
                            GradientOf(op.output) + first,
                            GradientOf(op.inputs[0]) + first);
  });
}

}  // namespace skerry::model
