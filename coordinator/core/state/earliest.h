// coordinator/core/state/earliest.h
//
// Collects the next moment at which anything is due.
#ifndef SKERRY_COORDINATOR_CORE_STATE_EARLIEST_H_
#define SKERRY_COORDINATOR_CORE_STATE_EARLIEST_H_

#include <optional>

#include "base/instant.h"

namespace skerry::coordinator {

// Collects moments and keeps the earliest one after `after`. Work that was due
// by `after` has been done.
class Earliest {
 public:
  explicit Earliest(Instant after) : after_(after) {}

  void Consider(Instant moment) {
    if (moment <= after_) return;
    if (!found_.has_value() || moment < *found_) found_ = moment;
  }
  void Consider(std::optional<Instant> moment) {
    if (moment.has_value()) Consider(*moment);
  }
  std::optional<Instant> found() const { return found_; }

 private:
  const Instant after_;
  std::optional<Instant> found_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_STATE_EARLIEST_H_
