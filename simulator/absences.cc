#include "simulator/absences.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/random.h"

namespace skerry::sim {
namespace {

// Draws from the exponential distribution with mean `mean`. A microsecond is
// added, so that the time is never zero.
absl::Duration Exponential(Random& random, absl::Duration mean) {
  return mean * -std::log(1.0 - random.Uniform()) + absl::Microseconds(1);
}

}  // namespace

std::vector<Absence> DrawAbsences(const Preemption& preemption,
                                  uint32_t workers, absl::Duration horizon,
                                  uint64_t seed) {
  SKERRY_CHECK(preemption.between_mean > absl::ZeroDuration());
  SKERRY_CHECK(preemption.away_mean > absl::ZeroDuration());
  std::vector<Absence> all;
  for (uint32_t worker = 0; worker < workers; ++worker) {
    // Each worker draws from a stream of its own, so that the absences of the
    // others stay the same if workers are added.
    Random random(Mix64(seed ^ 0xab5e) + worker);
    absl::Duration now = Exponential(random, preemption.between_mean);
    while (now < horizon) {
      const absl::Duration back =
          now + Exponential(random, preemption.away_mean);
      all.push_back({worker, now, back});
      now = back + Exponential(random, preemption.between_mean);
    }
  }
  std::stable_sort(
      all.begin(), all.end(),
      [](const Absence& a, const Absence& b) { return a.begin < b.begin; });
  return all;
}

double LiveShare(const std::vector<Absence>& absences, uint32_t workers,
                 absl::Duration from, absl::Duration until) {
  if (workers == 0 || until <= from) return 1;
  absl::Duration away;
  for (const Absence& one : absences) {
    away += std::max(absl::ZeroDuration(),
                     std::min(one.end, until) - std::max(one.begin, from));
  }
  return 1 - absl::FDivDuration(away, (until - from) * workers);
}

}  // namespace skerry::sim
