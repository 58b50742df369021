// optimizer/inner/adamw.h
//
// AdamW (Loshchilov and Hutter 2019) on flat arrays: Adam with bias correction
// and weight decay that does not pass through the moments. The arithmetic is
// that of torch.optim.AdamW.
#ifndef SKERRY_OPTIMIZER_INNER_ADAMW_H_
#define SKERRY_OPTIMIZER_INNER_ADAMW_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/executor.h"
#include "optimizer/inner/inner_optimizer.h"
#include "optimizer/inner/tensor.h"

namespace skerry::optimizer {

struct AdamWOptions {
  float beta1 = 0.9f;
  float beta2 = 0.95f;
  float epsilon = 1e-8f;
  float weight_decay = 0.1f;
};
absl::Status ValidateAdamWOptions(const AdamWOptions& options);

class AdamW final : public InnerOptimizer {
 public:
  // Moments start at 0.
  //
  // Requires: ValidateAdamWOptions(options) is OK; tensors as for
  // CutIntoPieces.
  AdamW(const AdamWOptions& options, std::span<const Tensor> tensors);

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

 private:
  const AdamWOptions options_;
  const std::vector<Tensor> tensors_;
  const std::vector<Piece> pieces_;
  std::vector<float> first_moment_;
  std::vector<float> second_moment_;
  uint64_t steps_ = 0;
};

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_ADAMW_H_
