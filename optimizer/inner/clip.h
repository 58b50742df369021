// optimizer/inner/clip.h
//
// Clipping by the norm of the whole gradient.
#ifndef SKERRY_OPTIMIZER_INNER_CLIP_H_
#define SKERRY_OPTIMIZER_INNER_CLIP_H_

#include <span>

#include "base/executor.h"

namespace skerry::optimizer {

// The Euclidean norm, summed in float64 in an order that depends on the size
// of the span and on nothing else of the call: one machine always gets the
// same bits. Infinite or NaN when an element is.
double GlobalNorm(std::span<const float> values, ParallelExecutor& executor);

// What a gradient of norm `norm` is to be multiplied by so that its norm is at
// most `norm_max`: min(1, norm_max / (norm + 1e-6)), as PyTorch's
// clip_grad_norm_. 1 when norm_max is 0, which means no clipping.
//
// Requires: `norm` is finite. A caller that meets another skips the step.
float ClipFactor(double norm, double norm_max);

}  // namespace skerry::optimizer

#endif  // SKERRY_OPTIMIZER_INNER_CLIP_H_
