// trainer/testing/in_process_trainer.h
//
// The engine behind the trainer seam in the caller's own process, with a small
// model and made-up text.
#ifndef SKERRY_TRAINER_TESTING_IN_PROCESS_TRAINER_H_
#define SKERRY_TRAINER_TESTING_IN_PROCESS_TRAINER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "trainer/core/trainer.h"
#include "trainer/core/training_options.h"

namespace skerry::trainer {

// A GPT-2 of two layers, width 32 and context 32 over bytes, and a schedule
// under which it learns within 50 steps of 16 samples.
TrainingOptions SmallTrainingOptions();

// The same job for a Llama of two layers, width 36 and three queries to a key.
TrainingOptions SmallLlamaOptions();

// The GPT-2 with dropout, at different rates in its three places.
TrainingOptions SmallDropoutOptions();

// `bytes` of text made of some forty English words; the same for a seed.
std::string MadeUpText(uint64_t seed, size_t bytes);

// Owns its data, 20,000 bytes for training and 2,000 for validation, and
// computes on the calling thread.
absl::StatusOr<std::unique_ptr<Trainer>> MakeInProcessTrainer(
    const TrainingOptions& options);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_TESTING_IN_PROCESS_TRAINER_H_
