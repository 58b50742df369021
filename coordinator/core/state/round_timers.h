// coordinator/core/state/round_timers.h
//
// Decides when an exchange may open and when an attempt has had its time. The
// windows and deadlines are learned from the arrivals and exchanges of this
// fragment, and from its links (PROTOCOL 5.1, 5.3, 7). Nothing is durable.
#ifndef SKERRY_COORDINATOR_CORE_STATE_ROUND_TIMERS_H_
#define SKERRY_COORDINATOR_CORE_STATE_ROUND_TIMERS_H_

#include <cstdint>
#include <optional>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "base/instant.h"
#include "coordinator/core/state/earliest.h"
#include "coordinator/core/state/learned.h"
#include "coordinator/core/state/options.h"

namespace skerry::coordinator {

class RoundTimers {
 public:
  explicit RoundTimers(const ClusterOptions& options) : options_(options) {}

  // --- Between exchanges.
  // A complete contribution is there, of the rounds since the life's last one.
  // Their inner steps took `compute`; 0 where that is not known. Sightings
  // after the first are ignored.
  void OnReady(Life life, Round round, absl::Duration compute, Instant now);
  void OnEnded(Life life) { seen_.erase(life); }
  // Starts the windows that are not running yet.
  void Window(bool any_ready, bool quorum_ready, Instant now);
  // Returns whether the grace has passed since the quorum was ready.
  bool GraceOver(Instant now) const;
  // Returns whether max_wait has passed since the first contribution was ready.
  bool MaxWaitOver(Instant now) const;

  // --- An attempt.
  // `predicted`: how long it takes by its links; 0 where that is not known. A
  // deadline that was learned from shorter exchanges is longer for it.
  void OnOpened(uint32_t tries, absl::Duration predicted, Instant now);
  // A deadline anew, for an attempt that nobody else could take over.
  void Extend(uint32_t tries, Instant now);
  // The deadline has passed, and its links now say that the attempt takes
  // `predicted`. Returns true if it gets a later deadline for that.
  bool Reconsider(uint32_t tries, absl::Duration predicted, Instant now);
  void OnClosed();
  // Returns how long the attempt took.
  absl::Duration OnCommitted(Instant now);
  // Sets the members that are lost or silent and still needed. Each has the
  // reconnect allowance from when it was first named. A member that is no
  // longer named has recovered.
  void Trouble(const absl::btree_set<ReplicaId>& replicas, Instant now);
  Instant Deadline() const;

  void Collect(bool attempt_open, Earliest& earliest) const;

 private:
  absl::Duration Grace() const;
  absl::Duration MaxWait() const;
  // The longest that an attempt may take.
  absl::Duration LongestAttempt() const;
  absl::Duration AttemptTime(uint32_t tries) const;

  struct Seen {
    Round round;
    Instant at;
  };

  const ClusterOptions options_;
  absl::btree_map<Life, Seen> seen_;
  LearnedDuration spreads_{64, 4};
  // Rounds with what was waited in them, and their inner steps alone.
  LearnedDuration rounds_{32, 1};
  LearnedDuration computes_{32, 1};
  LearnedDuration exchanges_{64, 4};
  std::optional<Instant> first_ready_;
  std::optional<Instant> quorum_ready_;
  Instant opened_at_;
  Instant deadline_;
  absl::Duration predicted_;
  absl::btree_map<ReplicaId, Instant> troubled_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_ROUND_TIMERS_H_
