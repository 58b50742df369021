#include "tests/sim/shrink.h"

#include <algorithm>
#include <utility>

namespace skerry::sim {

Schedule Shrink(Schedule schedule,
                const std::function<bool(const Schedule&)>& fails,
                int runs_max) {
  size_t part = std::max<size_t>(1, schedule.faults.size() / 2);
  while (!schedule.faults.empty()) {
    bool removed = false;
    for (size_t at = 0; at < schedule.faults.size() && runs_max > 0;) {
      Schedule fewer = schedule;
      const auto begin = fewer.faults.begin() + at;
      fewer.faults.erase(begin,
                         begin + std::min(part, fewer.faults.size() - at));
      --runs_max;
      if (fails(fewer)) {
        schedule = std::move(fewer);
        removed = true;
      } else {
        at += part;
      }
    }
    if (runs_max == 0 || (part == 1 && !removed)) break;
    if (!removed) part = std::max<size_t>(1, part / 2);
  }
  return schedule;
}

}  // namespace skerry::sim
