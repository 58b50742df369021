#include "trainer/core/token_sampler.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace skerry::trainer {
namespace {

struct Candidate {
  int32_t token = 0;
  // First the logit, then what it is drawn with.
  double weight = 0;
};

// The likeliest first; the smaller token of equals.
bool IsLikelier(const Candidate& a, const Candidate& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
}

double Total(const std::vector<Candidate>& candidates) {
  double total = 0;
  for (const Candidate& candidate : candidates) total += candidate.weight;
  return total;
}

void KeepTopP(double top_p, std::vector<Candidate>& candidates) {
  const double wanted = top_p * Total(candidates);
  double sum = 0;
  size_t kept = 0;
  while (kept < candidates.size() && (kept == 0 || sum < wanted)) {
    sum += candidates[kept++].weight;
  }
  candidates.resize(kept);
}

}  // namespace

absl::Status ValidateSampling(const Sampling& sampling) {
  if (!(sampling.temperature >= 0 && std::isfinite(sampling.temperature))) {
    return absl::InvalidArgumentError("the temperature must be at least 0");
  }
  if (sampling.top_k < 0) {
    return absl::InvalidArgumentError("top_k must be at least 0");
  }
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) {
    return absl::InvalidArgumentError("top_p must be above 0, at most 1");
  }
  return absl::OkStatus();
}

absl::StatusOr<int32_t> SampleToken(std::span<const float> logits,
                                    const std::vector<bool>& is_token,
                                    const Sampling& sampling, Random& random) {
  SKERRY_CHECK(!logits.empty() && ValidateSampling(sampling).ok());
  SKERRY_CHECK(is_token.empty() || is_token.size() == logits.size());
  for (const float logit : logits) {
    if (!std::isfinite(logit)) {
      return absl::InternalError(
          "the model's output is not finite; it diverged while it trained, so "
          "take an earlier checkpoint");
    }
  }
  std::vector<Candidate> candidates;
  candidates.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!is_token.empty() && !is_token[i]) continue;
    candidates.push_back({static_cast<int32_t>(i), logits[i]});
  }
  SKERRY_CHECK(!candidates.empty());
  const Candidate largest =
      *std::min_element(candidates.begin(), candidates.end(), IsLikelier);
  if (sampling.temperature == 0) return largest.token;
  for (Candidate& candidate : candidates) {
    candidate.weight =
        std::exp((candidate.weight - largest.weight) / sampling.temperature);
  }
  const auto top_k = static_cast<size_t>(sampling.top_k);
  const bool cuts = top_k > 0 && top_k < candidates.size();
  if (cuts) {
    std::nth_element(candidates.begin(), candidates.begin() + sampling.top_k,
                     candidates.end(), IsLikelier);
    candidates.resize(top_k);
  }
  if (cuts || sampling.top_p < 1) {
    std::sort(candidates.begin(), candidates.end(), IsLikelier);
  }
  if (sampling.top_p < 1) KeepTopP(sampling.top_p, candidates);
  double left = random.Uniform() * Total(candidates);
  for (const Candidate& candidate : candidates) {
    left -= candidate.weight;
    if (left < 0) return candidate.token;
  }
  return candidates.back().token;
}

}  // namespace skerry::trainer
