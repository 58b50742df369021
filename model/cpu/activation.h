// model/cpu/activation.h
//
// The activations of GPT-2 configs, elementwise.
//
// Absolute error against the exact function, for |x| <= 10: at most 2e-6.
#ifndef SKERRY_MODEL_CPU_ACTIVATION_H_
#define SKERRY_MODEL_CPU_ACTIVATION_H_

#include <cstddef>

#include "model/spec/model_config.h"

namespace skerry::model::cpu {

// y = f(x); y may be x.
void ActivationForward(Activation kind, size_t count, const float* x, float* y);

// dx = dy * f'(x); dx may be dy.
void ActivationBackward(Activation kind, size_t count, const float* x,
                        const float* dy, float* dx);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_ACTIVATION_H_
