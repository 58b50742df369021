// planner/span_alignment.h
//
// Tells where spans may begin. It is a file of its own because programs that
// try the protocol on models of a few hundred values link another one, which
// cuts them finer.
#ifndef SKERRY_PLANNER_SPAN_ALIGNMENT_H_
#define SKERRY_PLANNER_SPAN_ALIGNMENT_H_

#include <cstdint>

namespace skerry::planner {

// Every span begins at a multiple of so many elements. The same in all
// processes of a cluster.
uint64_t SpanAlignment();

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_SPAN_ALIGNMENT_H_
