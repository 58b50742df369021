#include "planner/span_alignment.h"

namespace skerry::planner {

uint64_t SpanAlignment() { return 4096; }

}  // namespace skerry::planner
