// tests/sim/language_model.h
//
// The engine's own language model in a simulated trainer: a GPT-2 of one layer
// over made-up text.
#ifndef SKERRY_TESTS_SIM_LANGUAGE_MODEL_H_
#define SKERRY_TESTS_SIM_LANGUAGE_MODEL_H_

#include <memory>

#include "simulator/sim_model.h"

namespace skerry::sim {

// Steps are plain gradient descent at one rate: a worker that joins a replica
// has no inner state to take from the others.
std::unique_ptr<SimModel> MakeLanguageModel();

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_LANGUAGE_MODEL_H_
