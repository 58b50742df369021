// model/cpu/swiglu.h
//
// The gated activation of Llama (Shazeer 2020), elementwise:
// y = silu(gate) * up, silu(x) = x / (1 + exp(-x)).
//
// Error of silu against the exact function: at most 1e-6 of |x|.
#ifndef SKERRY_MODEL_CPU_SWIGLU_H_
#define SKERRY_MODEL_CPU_SWIGLU_H_

#include <cstddef>

namespace skerry::model::cpu {

void SwiGluForward(size_t count, const float* gate, const float* up, float* y);

// Writes both gradients; dup may be dy.
void SwiGluBackward(size_t count, const float* gate, const float* up,
                    const float* dy, float* dgate, float* dup);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_SWIGLU_H_
