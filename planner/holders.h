// planner/holders.h
//
// Decides which worker of a replica holds which spans. A worker's spans are
// contiguous, so that a base or a checkpoint of one worker is one run of bytes.
#ifndef SKERRY_PLANNER_HOLDERS_H_
#define SKERRY_PLANNER_HOLDERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace skerry::planner {

// Spans [begin, end) of a fragment.
struct SpanRun {
  uint32_t begin = 0;
  uint32_t end = 0;

  uint32_t size() const { return end - begin; }
  friend bool operator==(const SpanRun&, const SpanRun&) = default;
};

struct Holders {
  // One run a worker, in order, together all spans; runs differ by at most one
  // span, and are empty only when there are more workers than spans.
  std::vector<SpanRun> runs;
  std::string reason;
};

// Errors: InvalidArgument when a count is 0.
absl::StatusOr<Holders> SplitSpans(uint32_t span_count, uint32_t worker_count);

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_HOLDERS_H_
