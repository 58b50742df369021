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

namespace skerry::optimizer {

struct AdamWOptions {
  float beta1 = 0.9f;
  float beta2 = 0.95f;
  float epsilon = 1e-8f;
  float weight_decay = 0.1f;
};
absl::Status ValidateAdamWOptions(const AdamWOptions& options);

// Elements [begin, end) of the flat array.
struct ElementRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

class AdamW {
 public:
  // `decayed` names the elements that weight decay applies to: ascending and
  // disjoint. Moments start at 0.
  //
  // Requires: ValidateAdamWOptions(options) is OK.
  AdamW(const AdamWOptions& options, uint64_t element_count,
        std::vector<ElementRange> decayed);

  // One step, with gradients multiplied by `gradient_scale` (the clipping
  // factor) on the way. Both spans have element_count elements.
  void Step(std::span<float> parameters, std::span<const float> gradients,
            float learning_rate, float gradient_scale,
            ParallelExecutor& executor);

  // The whole state, for checkpoints and joiners: writing all three continues
  // another optimizer's run.
  std::span<float> first_moment() { return first_moment_; }
  std::span<float> second_moment() { return second_moment_; }
  uint64_t steps() const { return steps_; }
  void set_steps(uint64_t steps) { steps_ = steps; }

 private:
  // Part of the flat array with one weight decay.
  struct Piece {
    ElementRange range;
    bool decayed;
  };

  const AdamWOptions options_;
  std::vector<float> first_moment_;
  std::vector<float> second_moment_;
  std::vector<Piece> pieces_;
  uint64_t steps_ = 0;
};

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_ADAMW_H_
