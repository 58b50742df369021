// optimizer/inner/muon.h
//
// Muon (Jordan et al. 2024): the matrices between hidden layers take steps
// along their orthogonalized momentum, everything else AdamW's.
//
//   m  = momentum * m + (1 - momentum) * g
//   u  = nesterov ? (1 - momentum) * g + momentum * m : m
//   p -= learning_rate * (weight_decay * p
//                         + 0.2 sqrt(max(rows, columns)) * orthogonal(u))
//
// The factor 0.2 sqrt(max(rows, columns)) makes a step as large as AdamW's
// usual one (Liu et al. 2025, arXiv:2502.16982, 2.2), so that one learning rate
// and one weight decay serve both.
#ifndef SKERRY_OPTIMIZER_INNER_MUON_H_
#define SKERRY_OPTIMIZER_INNER_MUON_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/executor.h"
#include "optimizer/inner/adamw.h"
#include "optimizer/inner/inner_optimizer.h"
#include "optimizer/inner/matrix_products.h"
#include "optimizer/inner/orthogonalize.h"
#include "optimizer/inner/tensor.h"

namespace skerry::optimizer {

struct MuonOptions {
  float momentum = 0.95f;
  bool nesterov = true;
  // Options of the other tensors. The weight decay is that of the matrices too.
  AdamWOptions adamw = {};
};
absl::Status ValidateMuonOptions(const MuonOptions& options);

class Muon final : public InnerOptimizer {
 public:
  // Momenta start at 0. `products` outlive it.
  //
  // Requires: ValidateMuonOptions(options) is OK; tensors as for
  // CutIntoPieces.
  Muon(const MuonOptions& options, std::span<const Tensor> tensors,
       const MatrixProducts& products);

  void Step(std::span<float> parameters, std::span<const float> gradients,
            float learning_rate, float gradient_scale,
            ParallelExecutor& executor) override;

  // The matrices' momentum, then AdamW's moments of the rest.
  std::vector<StateSlot> state() override;
  uint64_t steps() const override { return rest_.steps(); }
  void set_steps(uint64_t steps) override { rest_.set_steps(steps); }

 private:
  void StepMatrix(const Tensor& tensor, std::span<float> momentum,
                  std::span<float> parameters, std::span<const float> gradients,
                  float learning_rate, float gradient_scale,
                  ParallelExecutor& executor);

  const MuonOptions options_;
  const std::vector<Tensor> matrices_;
  AdamW rest_;
  std::vector<float> momentum_;
  std::vector<float> direction_;  // of one matrix
  Orthogonalizer orthogonalizer_;
};

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_MUON_H_
