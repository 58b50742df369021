// worker/core/preemption/finding.h
//
// Defines what a source of preemption notices says: whether this machine is
// going to be taken away, and when.
#ifndef SKERRY_WORKER_CORE_PREEMPTION_FINDING_H_
#define SKERRY_WORKER_CORE_PREEMPTION_FINDING_H_

#include <optional>
#include <string>

#include "absl/time/time.h"

namespace skerry::worker {

// The machine is going to be taken away.
struct Notice {
  // Tells this notice from others of the same source. One notice has one
  // deadline: that of the moment at which it was first found.
  std::string id;
  // What happens to the machine, in the source's word, for people.
  std::string what;
  // From the moment at which this was found; at least 0.
  absl::Duration remaining;
};

// What one answer says.
struct Finding {
  // The answer only makes way for the next request, which is due at once.
  bool asks_on = false;
  // None when the source has no notice.
  std::optional<Notice> notice = std::nullopt;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_PREEMPTION_FINDING_H_
