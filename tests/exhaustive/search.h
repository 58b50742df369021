// tests/exhaustive/search.h
//
// Every order of events of a model, each state once.
#ifndef SKERRY_TESTS_EXHAUSTIVE_SEARCH_H_
#define SKERRY_TESTS_EXHAUSTIVE_SEARCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/exhaustive/model.h"

namespace skerry::exhaustive {

struct Explored {
  uint64_t states = 0;
  uint64_t steps = 0;
  // States from which the way to the job's end was tried.
  uint64_t ends = 0;
  // Whether nothing was left when it stopped.
  bool complete = false;
  // What is broken, and the way there; empty when nothing is.
  std::string broken;
  std::vector<std::string> path;
};

// Depth first, at most `states_max` states.
Explored Explore(const Scenario& scenario, uint64_t states_max);

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_SEARCH_H_
