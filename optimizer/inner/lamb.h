// optimizer/inner/lamb.h
//
// LAMB (You et al. 2020): Adam's step, with each tensor's share of it scaled by
// the ratio of the tensor's norm to the step's, for large batches.
//
//   m, v   as Adam, with bias correction
//   u      = m' / (sqrt(v') + epsilon) + weight_decay * p
//   ratio  = clamp(||p|| / ||u||, ratio_min, ratio_max), 1 when a norm is 0
//   p     -= learning_rate * ratio * u
//
// Tensors that are not decayed (biases, norms) keep a ratio of 1, as in the
// authors' runs.
#ifndef SKERRY_OPTIMIZER_INNER_LAMB_H_
#define SKERRY_OPTIMIZER_INNER_LAMB_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/executor.h"
#include "optimizer/inner/adamw.h"
#include "optimizer/inner/inner_optimizer.h"
#include "optimizer/inner/tensor.h"

namespace skerry::optimizer {

struct LambOptions {
  AdamWOptions adam = {};
  float ratio_min = 0.01f;
  float ratio_max = 10.0f;
};
absl::Status ValidateLambOptions(const LambOptions& options);

class Lamb final : public InnerOptimizer {
 public:
  // Moments start at 0.
  //
  // Requires: ValidateLambOptions(options) is OK; tensors as for
  // CutIntoPieces.
  Lamb(const LambOptions& options, std::span<const Tensor> tensors);

  // Sums go in an order that depends on the tensors alone: the bits do not
  // depend on the number of threads.
  void Step(std::span<float> parameters, std::span<const float> gradients,
            float learning_rate, float gradient_scale,
            ParallelExecutor& executor) override;

  // First and second moment.
  std::vector<StateSlot> state() override {
    return {{"exp_avg", first_moment_, tensors_},
            {"exp_avg_sq", second_moment_, tensors_}};
  }
  uint64_t steps() const override { return steps_; }
  void set_steps(uint64_t steps) override { steps_ = steps; }

  // The ratios of the last step, by tensor. They are 1 before the first.
  std::span<const float> ratios() const { return ratios_; }

 private:
  void SetRatios();

  // Squared norms of one piece.
  struct Squares {
    double parameter = 0;
    double update = 0;
  };

  const LambOptions options_;
  const std::vector<Tensor> tensors_;
  const std::vector<Piece> pieces_;
  std::vector<float> first_moment_;
  std::vector<float> second_moment_;
  std::vector<Squares> squares_;  // by piece
  std::vector<float> ratios_;     // by tensor
  uint64_t steps_ = 0;
};

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_LAMB_H_
