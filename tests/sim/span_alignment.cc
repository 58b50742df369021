// Spans of simulated models: what goes wrong in the protocol does so with few
// values as well, and most of the time went into those of one span.
#include "planner/span_alignment.h"

namespace skerry::planner {

uint64_t SpanAlignment() { return 512; }

}  // namespace skerry::planner
