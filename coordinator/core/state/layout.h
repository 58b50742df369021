// coordinator/core/state/layout.h
//
// Decides which spans each worker of a replica holds, and who owns each span of
// an exchange.
#ifndef SKERRY_COORDINATOR_CORE_STATE_LAYOUT_H_
#define SKERRY_COORDINATOR_CORE_STATE_LAYOUT_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace skerry::coordinator {

// How many spans planner/spans.h cuts each fragment into; 0 when it refuses the
// numbers.
uint32_t SpanCount(uint64_t element_count, uint32_t spans_max,
                   uint32_t fragments = 1, uint64_t average_begin = 0);

// Elements of each span of the fragment. Requires: SpanCount is not 0.
std::vector<uint64_t> SpanElements(uint64_t element_count, uint32_t spans_max,
                                   uint32_t fragments, uint64_t average_begin,
                                   uint32_t fragment);

// [begin, end) for each of `workers` workers, in rank order, as
// planner/holders.h splits them. Requires: both counts are positive.
std::vector<std::pair<uint32_t, uint32_t>> SplitSpans(uint32_t span_count,
                                                      uint32_t workers);

// Member index of each span's owner: equal shares, interleaved so that the
// workers of one replica share its part. Another `rotation` gives every span
// another owner.
std::vector<uint32_t> EqualOwners(uint32_t span_count, uint32_t members,
                                  uint32_t rotation);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_LAYOUT_H_
