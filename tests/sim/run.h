// tests/sim/run.h
//
// Runs one schedule under all checkers, and returns the verdict.
#ifndef SKERRY_TESTS_SIM_RUN_H_
#define SKERRY_TESTS_SIM_RUN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/sim/schedule.h"

namespace skerry::sim {

struct RunOptions {
  // Lines of history to keep.
  size_t history_lines = 0;
};

struct RunResult {
  // Hash of the whole history.
  uint64_t hash = 0;
  // Tasks that ran on the timeline.
  uint64_t events = 0;
  uint64_t commits = 0;
  // Simulated time until all jobs had ended.
  absl::Duration took;
  // Simulated time from calm until the next commit or the end of all jobs.
  absl::Duration resumed_after;
  // Empty when nothing is broken.
  std::vector<std::string> violations;
  std::vector<std::string> lines;
};

RunResult Run(const Schedule& schedule, const RunOptions& options = {});

// The longest that the protocol allows from calm to the next commit: two leases
// and a round (DESIGN 5: 9), and what a process needs to start.
absl::Duration ResumeBound(const Schedule& schedule);

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_RUN_H_
