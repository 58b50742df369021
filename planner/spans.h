// planner/spans.h
//
// Cuts a fragment of the flat outer state into spans. The cut depends on the
// model's elements alone, never on devices or members, so it holds for the life
// of a job.
#ifndef SKERRY_PLANNER_SPANS_H_
#define SKERRY_PLANNER_SPANS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/span_alignment.h"

namespace skerry::planner {

// Elements [begin, end) of the fragment.
struct SpanRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t size() const { return end - begin; }
  friend bool operator==(const SpanRange&, const SpanRange&) = default;
};

inline constexpr uint32_t kSpansPerFragmentDefault = 64;

// Cuts [0, element_count) into at most `spans_per_fragment` ranges in order.
// Every begin is a multiple of `alignment`, no range is empty, and two sizes
// differ by at most one `alignment` (the last range may also end inside one).
//
// Errors: InvalidArgument when a parameter is 0, or `element_count` exceeds
// 2^48.
absl::StatusOr<std::vector<SpanRange>> CutSpans(
    uint64_t element_count,
    uint32_t spans_per_fragment = kSpansPerFragmentDefault,
    uint64_t alignment = SpanAlignment());

// Cuts [0, element_count) into `fragments` parts in order and each of them into
// the same number of spans, at most `spans_per_fragment`. With one fragment its
// spans are those of CutSpans.
//
// The elements from `average_begin` on are averaged (PROTOCOL 4.5); 0: none
// are. That is an edge of a span then, and all of them belong to the last
// fragment. A model of one fragment has two spans at least.
//
// Errors: as CutSpans; InvalidArgument when a fragment would have no span, or
// `average_begin` is not below `element_count` or no multiple of `alignment`.
absl::StatusOr<std::vector<std::vector<SpanRange>>> CutFragments(
    uint64_t element_count, uint32_t fragments,
    uint32_t spans_per_fragment = kSpansPerFragmentDefault,
    uint64_t average_begin = 0, uint64_t alignment = SpanAlignment());

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_SPANS_H_
