// tests/sim/shrink.h
//
// Removes faults from a failing schedule as long as it still fails.
#ifndef SKERRY_TESTS_SIM_SHRINK_H_
#define SKERRY_TESTS_SIM_SHRINK_H_

#include <functional>

#include "tests/sim/schedule.h"

namespace skerry::sim {

// `fails` says whether a schedule still fails. Halves of the list are tried
// first, then smaller parts, so that n faults need some n * log n runs; at most
// `runs_max` are made.
Schedule Shrink(Schedule schedule,
                const std::function<bool(const Schedule&)>& fails,
                int runs_max = 200);

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_SHRINK_H_
