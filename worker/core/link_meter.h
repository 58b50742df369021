// worker/core/link_meter.h
//
// What a link to one peer carries, from when frames left and when the peer said
// that it has them.
//
// Frames that leave while others are unanswered make a train. Its rate is what
// was answered after the first answer, over that time: so neither the round
// trip nor a peer that is not ready yet counts as slowness of the link. Trains
// too short to time are timed together. A train ends where frames are forgotten
// with their attempt, and what was answered before counts.
#ifndef SKERRY_WORKER_CORE_LINK_METER_H_
#define SKERRY_WORKER_CORE_LINK_METER_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "absl/time/time.h"
#include "base/instant.h"

namespace skerry::worker {

struct LinkEstimate {
  double bytes_per_s = 0;
  double rate_spread = 0;  // standard deviation over the mean
  absl::Duration round_trip;
  friend bool operator==(const LinkEstimate&, const LinkEstimate&) = default;
};

class LinkMeter {
 public:
  void OnSent(Instant now);
  // The peer has said of a frame that it has it, whether or not it had a use
  // for it.
  void OnAnswered(Instant now, uint64_t bytes);
  // Nobody will answer a frame: its attempt was given up.
  void OnForgotten();

  // None before trains were long enough to time.
  std::optional<LinkEstimate> estimate() const;

 private:
  void EndTrain();

  uint64_t unanswered_ = 0;      // frames
  std::optional<Instant> sent_;  // the first, unless others went before
  std::optional<Instant> answered_;
  uint64_t first_bytes_ = 0;
  Instant last_;
  uint64_t bytes_ = 0;  // after the first answer

  // Of trains since the last that told a rate.
  uint64_t timed_bytes_ = 0;
  absl::Duration timed_;

  double mean_ = 0;  // moving, of trains' rates
  double variance_ = 0;
  std::deque<absl::Duration> round_trips_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_LINK_METER_H_
