// tests/sim/isolated.h
//
// Runs schedules in processes of their own, because a program that breaks its
// own promise stops the process that it runs in.
#ifndef SKERRY_TESTS_SIM_ISOLATED_H_
#define SKERRY_TESTS_SIM_ISOLATED_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/sim/schedule.h"

namespace skerry::sim {

// What is known of one schedule.
struct Verdict {
  uint64_t seed = 0;
  std::string profile;
  uint64_t hash = 0;
  uint64_t events = 0;
  uint64_t commits = 0;
  uint64_t faults = 0;
  int64_t took_ms = 0;
  int64_t resumed_ms = 0;
  // The first violation; empty when nothing is broken.
  std::string violation;
};

// Runs `schedules(i)` for i in [0, count) on `processes` processes; `take` gets
// a verdict for each, in any order. A schedule that ends its process has that
// as its violation.
void RunIsolated(uint64_t count, int processes,
                 const std::function<Schedule(uint64_t index)>& schedules,
                 const std::function<void(const Verdict&)>& take);

// One schedule in a process of its own.
Verdict RunIsolated(const Schedule& schedule);

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_ISOLATED_H_
