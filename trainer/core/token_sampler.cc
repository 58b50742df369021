#include "trainer/core/token_sampler.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "base/check.h"

namespace skerry::trainer {

absl::StatusOr<int32_t> SampleToken(std::span<const float> logits,
                                    double temperature, Random& random) {
  SKERRY_CHECK(!logits.empty() && temperature >= 0);
  for (const float logit : logits) {
    if (!std::isfinite(logit)) {
      return absl::InternalError("the model's output is not finite");
    }
  }
  const auto largest = std::max_element(logits.begin(), logits.end());
  if (temperature == 0) {
    return static_cast<int32_t>(largest - logits.begin());
  }
  const auto weight = [&](float logit) {
    return std::exp((static_cast<double>(logit) - *largest) / temperature);
  };
  double total = 0;
  for (const float logit : logits) total += weight(logit);
  double left = random.Uniform() * total;
  for (size_t token = 0; token + 1 < logits.size(); ++token) {
    left -= weight(logits[token]);
    if (left < 0) return static_cast<int32_t>(token);
  }
  return static_cast<int32_t>(logits.size() - 1);
}

}  // namespace skerry::trainer
