// trainer/core/inner_tensors.h
//
// Adapts a model and its matrix products to the inner optimizer.
#ifndef SKERRY_TRAINER_CORE_INNER_TENSORS_H_
#define SKERRY_TRAINER_CORE_INNER_TENSORS_H_

#include <vector>

#include "model/cpu/gemm.h"
#include "model/spec/graph.h"
#include "optimizer/inner/matrix_products.h"
#include "optimizer/inner/tensor.h"

namespace skerry::trainer {

// Every tensor of the layout, in its order. Hidden matrices are the weights of
// linear operators, except that of the head, whose output the loss reads.
std::vector<optimizer::Tensor> InnerTensors(const model::Graph& graph);

class GemmProducts final : public optimizer::MatrixProducts {
 public:
  // `gemm` outlives this.
  explicit GemmProducts(const model::cpu::GemmBackend& gemm) : gemm_(gemm) {}
  void Multiply(bool transpose_b, int m, int n, int k, const float* a,
                const float* b, float* c) const override;

 private:
  const model::cpu::GemmBackend& gemm_;
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_INNER_TENSORS_H_
