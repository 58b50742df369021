// worker/core/reach/try_book.h
//
// Decides when this worker dials others to find out whether it can, and what it
// tells of the outcomes.
#ifndef SKERRY_WORKER_CORE_REACH_TRY_BOOK_H_
#define SKERRY_WORKER_CORE_REACH_TRY_BOOK_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "protocol/reach.h"

namespace skerry::worker {

class TryBook {
 public:
  // Who answers is dialled again after this time.
  static constexpr absl::Duration kOften = absl::Minutes(1);
  // Who does not answer, or could not dial this worker, after this one.
  static constexpr absl::Duration kSoon = absl::Seconds(5);
  // One failure may be a worker that is just being started, so it is told of
  // only when the next try fails, too. That comes after this time.
  static constexpr absl::Duration kAtOnce = absl::Seconds(2);

  // Takes in the newest orders. New workers, new processes and new endpoints
  // are due at once. What was found of workers that are not named any more, and
  // of former processes, is forgotten.
  void Learn(const std::vector<protocol::TryOrder>& orders, Instant now);
  // A worker that has answered nothing of what it was sent is due at once.
  void Miss(const std::vector<std::string>& workers, Instant now);

  // Returns those that are due. They are not due again before OnOutcome().
  std::vector<protocol::TryOrder> TakeDue(Instant now);
  // When the next one is; none when nobody is, until then or until OnOutcome().
  std::optional<Instant> NextDue() const;

  // The outcome of dialling as `order` said: the milliseconds of a round trip,
  // or why there was none. Returns what is told of the worker from now on, if
  // it is another thing than before: it answers or it does not.
  std::optional<protocol::Tried> OnOutcome(
      const protocol::TryOrder& order,
      const absl::StatusOr<double>& round_trip_ms, Instant now);

  // What is told of all.
  std::vector<protocol::Tried> Told(Instant now) const;

 private:
  struct Peer {
    protocol::TryOrder order;
    Instant due;
    bool is_running = false;
    bool is_missed = false;
    int failures = 0;  // since it last answered
    std::optional<protocol::Tried> told;
    Instant told_at;
  };

  absl::btree_map<std::string, Peer> peers_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_REACH_TRY_BOOK_H_
