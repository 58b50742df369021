#include "model/spec/graph.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/btree_set.h"

namespace skerry::model {
namespace {

constexpr double kFloatBytes = 4;

// Operations per element of the elementwise parts. They only have to rank
// those parts against the matrix products, which are exact.
constexpr double kNormForward = 8;
constexpr double kNormBackward = 14;
constexpr double kActivationForward = 12;
constexpr double kActivationBackward = 20;
constexpr double kRotaryForward = 3;
constexpr double kSoftmaxForward = 6;
constexpr double kSoftmaxBackward = 3;
constexpr double kDropoutEach = 20;  // either way

double TensorBytes(const Graph& graph, int tensor) {
  if (tensor == kNone) return 0;
  return kFloatBytes *
         static_cast<double>(graph.layout.tensor(tensor).elements);
}

Work AttentionWork(const Operator& op, double rows, double columns) {
  Work work;
  // Query t meets keys 0..t: two products forward; backward repeats the first
  // and adds four (value, probability, query, key).
  const double pairs = rows * columns * (columns + 1) / 2;
  const double product = 2 * pairs * op.out_width;
  work.forward_flops = 2 * product + kSoftmaxForward * pairs * op.heads;
  work.backward_flops =
      5 * product + (kSoftmaxForward + kSoftmaxBackward) * pairs * op.heads;
  if (op.dropout > 0) {
    work.forward_flops += kDropoutEach * pairs * op.heads;
    work.backward_flops += kDropoutEach * pairs * op.heads;
  }
  work.activation_bytes =
      kFloatBytes * rows * columns * (op.out_width + op.heads);
  return work;
}

}  // namespace

bool HasHead(const Graph& graph) {
  return !graph.operators.empty() &&
         graph.operators.back().kind == OperatorKind::kCrossEntropy;
}

int BodySize(const Graph& graph) {
  return static_cast<int>(graph.operators.size()) - (HasHead(graph) ? 2 : 0);
}

bool AddsToResidual(const Graph& graph, int index) {
  const int count = static_cast<int>(graph.operators.size());
  if (index + 1 >= count) return false;
  const Operator& op = graph.operators[index];
  const Operator& next = graph.operators[index + 1];
  if (op.kind != OperatorKind::kLinear ||
      next.kind != OperatorKind::kResidualAdd || next.inputs[1] != op.output) {
    return false;
  }
  for (int i = index + 1; i < count; ++i) {
    for (const int value : graph.operators[i].inputs) {
      if (value == op.output && i != index + 1) return false;
    }
  }
  return !absl::c_linear_search(graph.outputs, op.output);
}

Work OperatorWork(const Graph& graph, const Operator& op, int rows,
                  int columns) {
  const double tokens = static_cast<double>(rows) * columns;
  const double out = tokens * op.out_width;
  Work work;
  switch (op.kind) {
    case OperatorKind::kEmbedding:
      work.forward_flops = out;
      work.backward_flops = 2 * out;
      work.activation_bytes = kFloatBytes * out;
      break;
    case OperatorKind::kLayerNorm:
      work.forward_flops = kNormForward * out;
      work.backward_flops = kNormBackward * out;
      work.activation_bytes = kFloatBytes * (out + 2 * tokens);
      break;
    case OperatorKind::kRmsNorm:
      work.forward_flops = kNormForward / 2 * out;
      work.backward_flops = kNormBackward / 2 * out;
      work.activation_bytes = kFloatBytes * (out + tokens);
      break;
    case OperatorKind::kRotary:  // in place of its input
      work.forward_flops = kRotaryForward * out;
      work.backward_flops = kRotaryForward * out;
      break;
    case OperatorKind::kLinear:
      work.forward_flops = 2 * out * op.in_width;
      work.backward_flops = 4 * out * op.in_width;
      work.activation_bytes = kFloatBytes * out;
      break;
    case OperatorKind::kAttention:
      work = AttentionWork(op, rows, columns);
      break;
    case OperatorKind::kActivation:
      work.forward_flops = kActivationForward * out;
      work.backward_flops = kActivationBackward * out;
      work.activation_bytes = kFloatBytes * out;
      break;
    case OperatorKind::kSwiGlu:
      work.forward_flops = (kActivationForward + 1) * out;
      work.backward_flops = (kActivationBackward + 2) * out;
      work.activation_bytes = kFloatBytes * out;
      break;
    case OperatorKind::kResidualAdd:
      work.forward_flops = out;
      work.activation_bytes = kFloatBytes * out;
      break;
    case OperatorKind::kDropout:  // in place of its input
      work.forward_flops = kDropoutEach * out;
      work.backward_flops = kDropoutEach * out;
      break;
    case OperatorKind::kCrossEntropy:
      work.forward_flops = kSoftmaxForward * tokens * op.in_width;
      work.backward_flops = kSoftmaxBackward * tokens * op.in_width;
      break;
  }
  work.parameter_bytes =
      TensorBytes(graph, op.weight) + TensorBytes(graph, op.bias);
  return work;
}

Work StageWork(const Graph& graph, const Stage& stage, int rows, int columns) {
  Work sum;
  absl::btree_set<int> tensors;
  for (int i = stage.begin; i < stage.end; ++i) {
    const Operator& op = graph.operators[i];
    const Work work = OperatorWork(graph, op, rows, columns);
    sum.forward_flops += work.forward_flops;
    sum.backward_flops += work.backward_flops;
    sum.activation_bytes += work.activation_bytes;
    tensors.insert(op.weight);
    tensors.insert(op.bias);
  }
  for (const int tensor : tensors) {
    sum.parameter_bytes += TensorBytes(graph, tensor);
  }
  return sum;
}

std::vector<int> ValuesCrossing(const Graph& graph, int position) {
  absl::btree_set<int> made(graph.inputs.begin(), graph.inputs.end());
  absl::btree_set<int> crossing;
  const int count = static_cast<int>(graph.operators.size());
  for (int i = 0; i < position; ++i) made.insert(graph.operators[i].output);
  for (int i = position; i < count; ++i) {
    for (const int value : graph.operators[i].inputs) {
      if (made.contains(value)) crossing.insert(value);
    }
  }
  for (const int value : graph.outputs) {
    if (made.contains(value)) crossing.insert(value);
  }
  return std::vector<int>(crossing.begin(), crossing.end());
}

}  // namespace skerry::model
