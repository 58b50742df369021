#include "coordinator/service/awake_clock.h"

#include "base/check.h"

namespace skerry::coordinator {
namespace {

constexpr double kIntervalShare = 0.1;
// A worker speaks every 0.3 of a lease, so a turn that takes less than this
// ends nobody's lease.
constexpr double kLongestTurnShare = 0.25;

}  // namespace

AwakeClock::AwakeClock(absl::Duration lease, Instant loop_now)
    : interval_(kIntervalShare * lease),
      longest_turn_(kLongestTurnShare * lease),
      turned_(loop_now) {}

absl::Duration AwakeClock::Turn(Instant loop_now) {
  SKERRY_CHECK(loop_now >= turned_);
  const absl::Duration gap = loop_now - turned_;
  turned_ = loop_now;
  if (gap <= longest_turn_) return absl::ZeroDuration();
  asleep_ += gap;
  return gap;
}

}  // namespace skerry::coordinator
