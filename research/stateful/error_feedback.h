// research/stateful/error_feedback.h
//
// What a lossy codec left out of one message goes into the next:
//
//   u = x + beta * e,  send C(u),  e = u - C(u),
//
// so that with beta 1 all that was sent plus e is all that was given, for any
// codec: sparse, quantised or both. For a group whose members step together;
// between islands the same law is worker/core/owed_sums.h.
#ifndef SKERRY_RESEARCH_STATEFUL_ERROR_FEEDBACK_H_
#define SKERRY_RESEARCH_STATEFUL_ERROR_FEEDBACK_H_

#include <cstddef>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/executor.h"
#include "compression/codec.h"
#include "compression/workspace.h"

namespace skerry::compression {

class ErrorFeedback {
 public:
  // Requires: 0 <= beta <= 1. 0 forgets, which is no error feedback. `loops`
  // runs the codec and changes nothing that it makes; it outlives this, and
  // nobody else runs loops on it during a call.
  explicit ErrorFeedback(size_t elements, float beta = 1.0f,
                         ParallelExecutor& loops = CallingThread());

  // Replaces `payload` with what `codec` makes of x + beta e. Another codec may
  // come at any call.
  //
  // Errors: InvalidArgument when a value of x is not finite, or their sum is
  // not; e is then what it was.
  absl::Status Encode(const Codec& codec, std::span<const float> x,
                      std::vector<std::byte>& payload);

  // The same where what is made depends on the steps before, so that no Codec
  // makes it: `encode` is asked instead, and `reader` decodes it.
  using Encoder = absl::FunctionRef<absl::Status(
      std::span<const float> values, std::vector<std::byte>& payload,
      Workspace& workspace)>;
  absl::Status EncodeWith(Encoder encode, const Codec& reader,
                          std::span<const float> x,
                          std::vector<std::byte>& payload);

  std::span<const float> error() const { return error_; }

 private:
  const float beta_;
  std::vector<float> error_;
  std::vector<float> sum_;
  std::vector<float> sent_;
  Workspace workspace_;
};

}  // namespace skerry::compression

#endif  // SKERRY_RESEARCH_STATEFUL_ERROR_FEEDBACK_H_
