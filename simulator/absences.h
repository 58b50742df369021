// simulator/absences.h
//
// Tells when workers' machines are taken away and given back.
#ifndef SKERRY_SIMULATOR_ABSENCES_H_
#define SKERRY_SIMULATOR_ABSENCES_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace skerry::sim {

struct Absence {
  uint32_t worker = 0;
  // From the start of the simulation.
  absl::Duration begin;
  absl::Duration end;
  friend bool operator==(const Absence&, const Absence&) = default;
};

struct Preemption {
  // Mean time from a worker's return to its next absence.
  absl::Duration between_mean;
  // Mean length of an absence.
  absl::Duration away_mean;
};

// Draws the absences of each worker that begin before `horizon`, independently
// of the other workers, with exponential times. Returns them by `begin`.
// Requires: both means are above zero.
std::vector<Absence> DrawAbsences(const Preemption& preemption,
                                  uint32_t workers, absl::Duration horizon,
                                  uint64_t seed);

// Returns the share of [from, until) for which a worker is there, as the mean
// over all workers.
double LiveShare(const std::vector<Absence>& absences, uint32_t workers,
                 absl::Duration from, absl::Duration until);

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_ABSENCES_H_
