// planner/span_alignment.h
//
// Where spans may begin, in a file of its own: programs that try the protocol
// on models of a few hundred values link one that cuts them finer.
#ifndef SKERRY_PLANNER_SPAN_ALIGNMENT_H_
#define SKERRY_PLANNER_SPAN_ALIGNMENT_H_

#include <cstdint>

namespace skerry::planner {

// Every span begins at a multiple of so many elements. The same in all
// processes of a cluster.
uint64_t SpanAlignment();

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_SPAN_ALIGNMENT_H_
