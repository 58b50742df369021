// trainer/core/token_sampler.h
//
// One token out of the model's opinion.
#ifndef SKERRY_TRAINER_CORE_TOKEN_SAMPLER_H_
#define SKERRY_TRAINER_CORE_TOKEN_SAMPLER_H_

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "base/random.h"

namespace skerry::trainer {

// Draws from softmax(logits / temperature), or takes the largest logit (the
// first of equals) when `temperature` is 0. Requires: logits is not empty and
// temperature is finite and >= 0. Errors: Internal when a logit is NaN or
// infinite.
absl::StatusOr<int32_t> SampleToken(std::span<const float> logits,
                                    double temperature, Random& random);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_TOKEN_SAMPLER_H_
