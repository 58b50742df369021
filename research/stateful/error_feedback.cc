#include "research/stateful/error_feedback.h"

#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "compression/parts.h"

namespace skerry::compression {

ErrorFeedback::ErrorFeedback(size_t elements, float beta,
                             ParallelExecutor& loops)
    : beta_(beta),
      error_(elements, 0.0f),
      sum_(elements),
      sent_(elements),
      workspace_(loops) {
  SKERRY_CHECK(beta >= 0.0f && beta <= 1.0f);
}

absl::Status ErrorFeedback::Encode(const Codec& codec, std::span<const float> x,
                                   std::vector<std::byte>& payload) {
  return EncodeWith(
      [&](std::span<const float> values, std::vector<std::byte>& to,
          Workspace& workspace) { return codec.Encode(values, to, workspace); },
      codec, x, payload);
}

absl::Status ErrorFeedback::EncodeWith(Encoder encode, const Codec& reader,
                                       std::span<const float> x,
                                       std::vector<std::byte>& payload) {
  SKERRY_CHECK(x.size() == error_.size());
  ParallelExecutor& loops = *workspace_.executor;
  EveryPart(x.size(), loops, [&](size_t begin, size_t end) {
    const float beta = beta_;
    const float* given = x.data();
    const float* kept = error_.data();
    float* __restrict sum = sum_.data();
    for (size_t i = begin; i < end; ++i) sum[i] = given[i] + beta * kept[i];
    return true;
  });
  SKERRY_RETURN_IF_ERROR(encode(sum_, payload, workspace_));
  SKERRY_RETURN_IF_ERROR(reader.Decode(payload, sent_, workspace_));
  EveryPart(x.size(), loops, [&](size_t begin, size_t end) {
    const float* sum = sum_.data();
    const float* sent = sent_.data();
    float* __restrict error = error_.data();
    for (size_t i = begin; i < end; ++i) error[i] = sum[i] - sent[i];
    return true;
  });
  return absl::OkStatus();
}

}  // namespace skerry::compression
