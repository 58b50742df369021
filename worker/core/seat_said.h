// worker/core/seat_said.h
//
// What the coordinator decides by in a Status. The seat calls for a new Status
// when any of it has changed.
#ifndef SKERRY_WORKER_CORE_SEAT_SAID_H_
#define SKERRY_WORKER_CORE_SEAT_SAID_H_

#include <vector>

#include "base/ids.h"
#include "protocol/job_facts.h"

namespace skerry::worker {

struct SeatSaid {
  protocol::SeatState state = protocol::SeatState::kStarting;
  Life life;
  struct Fragment {
    bool ready = false;
    Sequence applied;
    Sequence stored_through;
    friend bool operator==(const Fragment&, const Fragment&) = default;
  };
  std::vector<Fragment> fragments;
  friend bool operator==(const SeatSaid&, const SeatSaid&) = default;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_SEAT_SAID_H_
