#include "planner/holders.h"

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace skerry::planner {

absl::StatusOr<Holders> SplitSpans(uint32_t span_count, uint32_t worker_count) {
  if (span_count == 0 || worker_count == 0) {
    return absl::InvalidArgumentError(
        "a replica needs at least one span and one worker");
  }
  Holders holders;
  for (uint64_t w = 0; w < worker_count; ++w) {
    holders.runs.push_back(
        {static_cast<uint32_t>(w * span_count / worker_count),
         static_cast<uint32_t>((w + 1) * span_count / worker_count)});
  }
  const uint32_t most = (span_count + worker_count - 1) / worker_count;
  holders.reason =
      worker_count > span_count
          ? absl::StrFormat(
                "%d of %d workers hold nothing: there are only %d "
                "spans",
                worker_count - span_count, worker_count, span_count)
          : absl::StrFormat("%d spans over %d workers, at most %d each",
                            span_count, worker_count, most);
  return holders;
}

}  // namespace skerry::planner
