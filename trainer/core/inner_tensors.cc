#include "trainer/core/inner_tensors.h"

#include <cstdint>

namespace skerry::trainer {
namespace {

using model::OperatorKind;

bool FeedsTheLoss(const model::Graph& graph, int value) {
  for (const model::Operator& op : graph.operators) {
    if (op.kind != OperatorKind::kCrossEntropy) continue;
    for (const int input : op.inputs) {
      if (input == value) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<optimizer::Tensor> InnerTensors(const model::Graph& graph) {
  std::vector<optimizer::Tensor> tensors;
  for (const model::ParameterTensor& tensor : graph.layout.tensors()) {
    const auto begin = static_cast<uint64_t>(tensor.offset);
    const auto end = begin + static_cast<uint64_t>(tensor.elements);
    tensors.push_back({{begin, end}, tensor.weight_decay});
  }
  for (const model::Operator& op : graph.operators) {
    if (op.kind != OperatorKind::kLinear || FeedsTheLoss(graph, op.output)) {
      continue;
    }
    const std::vector<int64_t>& shape = graph.layout.tensor(op.weight).shape;
    optimizer::Tensor& tensor = tensors[static_cast<size_t>(op.weight)];
    tensor.rows = static_cast<int>(shape[0]);
    tensor.columns = static_cast<int>(shape[1]);
  }
  return tensors;
}

void GemmProducts::Multiply(bool transpose_b, int m, int n, int k,
                            const float* a, const float* b, float* c) const {
  using model::cpu::Transpose;
  gemm_.Multiply({.transpose_b = transpose_b ? Transpose::kYes : Transpose::kNo,
                  .m = m,
                  .n = n,
                  .k = k},
                 a, k, b, transpose_b ? k : n, /*beta=*/0, c, n);
}

}  // namespace skerry::trainer
