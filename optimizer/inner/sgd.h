// optimizer/inner/sgd.h
//
// Gradient descent with momentum, classical or Nesterov's, on flat arrays.
// Weight decay is added to the gradient. The arithmetic is that of
// torch.optim.SGD without dampening.
#ifndef SKERRY_OPTIMIZER_INNER_SGD_H_
#define SKERRY_OPTIMIZER_INNER_SGD_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/executor.h"
#include "optimizer/inner/inner_optimizer.h"
#include "optimizer/inner/tensor.h"

namespace skerry::optimizer {

struct SgdOptions {
  float momentum = 0.9f;
  bool nesterov = false;
  float weight_decay = 0;
};
absl::Status ValidateSgdOptions(const SgdOptions& options);

class Sgd final : public InnerOptimizer {
 public:
  // The momentum starts at 0.
  //
  // Requires: ValidateSgdOptions(options) is OK; tensors as for CutIntoPieces.
  Sgd(const SgdOptions& options, std::span<const Tensor> tensors);

  void Step(std::span<float> parameters, std::span<const float> gradients,
            float learning_rate, float gradient_scale,
            ParallelExecutor& executor) override;

  std::vector<StateSlot> state() override {
    return {{"momentum_buffer", momentum_, tensors_}};
  }
  uint64_t steps() const override { return steps_; }
  void set_steps(uint64_t steps) override { steps_ = steps; }

 private:
  const SgdOptions options_;
  const std::vector<Tensor> tensors_;
  const std::vector<Piece> pieces_;
  std::vector<float> momentum_;
  uint64_t steps_ = 0;
};

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_SGD_H_
