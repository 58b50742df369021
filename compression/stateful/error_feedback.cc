#include "compression/stateful/error_feedback.h"

#include <utility>

#include "base/check.h"
#include "base/status.h"

namespace skerry::compression {

ErrorFeedback::ErrorFeedback(size_t elements, float beta)
    : beta_(beta), error_(elements, 0.0f), sum_(elements), sent_(elements) {
  SKERRY_CHECK(beta >= 0.0f && beta <= 1.0f);
}

absl::Status ErrorFeedback::Encode(const Codec& codec, std::span<const float> x,
                                   std::vector<std::byte>& payload) {
  SKERRY_CHECK(x.size() == error_.size());
  for (size_t i = 0; i < x.size(); ++i) sum_[i] = x[i] + beta_ * error_[i];
  SKERRY_RETURN_IF_ERROR(codec.Encode(sum_, payload, workspace_));
  SKERRY_RETURN_IF_ERROR(codec.Decode(payload, sent_, workspace_));
  for (size_t i = 0; i < x.size(); ++i) error_[i] = sum_[i] - sent_[i];
  return absl::OkStatus();
}

}  // namespace skerry::compression
