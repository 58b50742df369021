// model/exec/initialize_parameters.h
//
// Computes the initial state of every replica from a seed alone. No replica
// sends it, so it must have the same bits on every machine.
#ifndef SKERRY_MODEL_EXEC_INITIALIZE_PARAMETERS_H_
#define SKERRY_MODEL_EXEC_INITIALIZE_PARAMETERS_H_

#include <cstdint>
#include <span>

#include "model/spec/model_config.h"
#include "model/spec/parameter_layout.h"

namespace skerry::model {

// GPT-2's scheme: matrices and tables from N(0, initializer_range), those that
// write to the residual stream from N(0, initializer_range / sqrt(2 n_layer)),
// biases 0, norm weights 1. Element i depends on `seed` and i only.
//
// Requires: parameters.size() == layout.element_count().
void InitializeParameters(const ParameterLayout& layout,
                          const ModelConfig& config, uint64_t seed,
                          std::span<float> parameters);

// The standard normal quantile of (bits + 1/2) / 2^64, to within 1e-9 of the
// true one relatively. Uses IEEE +, -, *, / and sqrt only, in one order.
double NormalFromBits(uint64_t bits);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_INITIALIZE_PARAMETERS_H_
