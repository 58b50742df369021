// optimizer/inner/inner_optimizer.h
//
// The interface of inner optimizers, which take a step from a gradient. Each
// algorithm has a file of its own.
#ifndef SKERRY_OPTIMIZER_INNER_INNER_OPTIMIZER_H_
#define SKERRY_OPTIMIZER_INNER_INNER_OPTIMIZER_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "optimizer/inner/tensor.h"

namespace skerry::optimizer {

// A part of an optimizer's state: a value for each element of some tensors.
struct StateSlot {
  // The key that PyTorch's optimizers use for it.
  std::string_view name;
  // The elements of `tensors`, one tensor after the other.
  std::span<float> values;
  std::span<const Tensor> tensors;
};

class InnerOptimizer {
 public:
  virtual ~InnerOptimizer() = default;

  // One step, with gradients multiplied by `gradient_scale` (the clipping
  // factor) on the way. Both spans are the whole flat array; elements of no
  // tensor are left alone. Nothing is allocated.
  virtual void Step(std::span<float> parameters,
                    std::span<const float> gradients, float learning_rate,
                    float gradient_scale, ParallelExecutor& executor) = 0;

  // With the count of steps, the whole state: writing both continues another
  // optimizer's run. The same names and sizes for equal tensors and options; a
  // tensor is once in each name.
  virtual std::vector<StateSlot> state() = 0;
  virtual uint64_t steps() const = 0;
  virtual void set_steps(uint64_t steps) = 0;
};

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_INNER_OPTIMIZER_H_
