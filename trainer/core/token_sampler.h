// trainer/core/token_sampler.h
//
// Draws one token from the model's logits.
#ifndef SKERRY_TRAINER_CORE_TOKEN_SAMPLER_H_
#define SKERRY_TRAINER_CORE_TOKEN_SAMPLER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/random.h"

namespace skerry::trainer {

struct Sampling {
  // 0 takes the likeliest token every time.
  double temperature = 0;
  // Only the likeliest so many tokens are drawn from; 0: all.
  int top_k = 0;
  // Then only the likeliest whose probabilities, added up until they reach it,
  // make up this share; 1: all.
  double top_p = 1;
};
// Errors: InvalidArgument that names the field.
absl::Status ValidateSampling(const Sampling& sampling);

// Draws from softmax(logits / temperature) over the tokens that are left, or
// takes the largest logit (the first of equals) when the temperature is 0. Of
// equal logits the first are kept. `is_token` says which numbers are tokens;
// the others are never drawn. When it is empty, all are. Requires: logits is
// not empty, `is_token` is empty or of the same size with a true in it, and
// `sampling` is valid. Errors: Internal when a logit is NaN or infinite.
absl::StatusOr<int32_t> SampleToken(std::span<const float> logits,
                                    const std::vector<bool>& is_token,
                                    const Sampling& sampling, Random& random);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_TOKEN_SAMPLER_H_
