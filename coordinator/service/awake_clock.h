// coordinator/service/awake_clock.h
//
// Gives the core its time: a clock that stands still while the process does. A
// stopped process hears nobody, so the time of the stop must not count against
// anyone.
#ifndef SKERRY_COORDINATOR_SERVICE_AWAKE_CLOCK_H_
#define SKERRY_COORDINATOR_SERVICE_AWAKE_CLOCK_H_

#include "absl/time/time.h"
#include "base/instant.h"

namespace skerry::coordinator {

class AwakeClock {
 public:
  // `loop_now` is the loop's time, as it is everywhere below.
  AwakeClock(absl::Duration lease, Instant loop_now);

  // The loop turns. It has to do so every interval(); when it comes much later
  // than that, the process was asleep. Returns for how long, or zero.
  absl::Duration Turn(Instant loop_now);
  absl::Duration interval() const { return interval_; }
  // Silence that is no sleep yet.
  absl::Duration longest_turn() const { return longest_turn_; }

  // As of the last turn.
  Instant now() const { return turned_ + -asleep_; }
  // When the loop will show it, unless the process sleeps again.
  Instant ToLoop(Instant awake) const { return awake + asleep_; }

 private:
  absl::Duration interval_;
  absl::Duration longest_turn_;
  Instant turned_;
  absl::Duration asleep_ = absl::ZeroDuration();
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_AWAKE_CLOCK_H_
