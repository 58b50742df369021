// coordinator/service/event_log.h
//
// Keeps the newest events of the journal for operators who follow a job.
#ifndef SKERRY_COORDINATOR_SERVICE_EVENT_LOG_H_
#define SKERRY_COORDINATOR_SERVICE_EVENT_LOG_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "base/instant.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/views/events.h"
#include "coordinator/core/views/logged_event.h"
#include "coordinator/core/views/views.h"

namespace skerry::coordinator {

// Holds at most `events_max` events and drops the oldest first. It does no I/O.
class EventLog {
 public:
  explicit EventLog(size_t events_max) : events_max_(events_max) {}

  // Entries in the order of the journal.
  void Add(const Entry& entry, Instant now);

  // At most `most` events and ends, the newest.
  EventHistory Save(size_t most) const;
  // What was saved, as if it were added now. Called before Add().
  void Restore(const EventHistory& saved, Instant now);

  // The first event after `after` that belongs to the history of `job`: its
  // own, and those of the cluster between its first and its last record.
  const LoggedEvent* Next(JobId job, Revision after) const;

  // The first event of the worker after `after`.
  const LoggedEvent* NextOfWorker(std::string_view worker,
                                  Revision after) const;

  // The newest events after `after`, oldest first: at most `most` that are
  // routine and as many that are not.
  std::vector<LoggedEvent> Newest(Revision after, size_t most) const;

  // No later event can belong to `job`.
  bool Ended(JobId job) const;

 private:
  std::deque<LoggedEvent>::const_iterator After(Revision after) const;
  const LoggedEvent* FindAfter(
      Revision after, absl::FunctionRef<bool(const LoggedEvent&)> wanted) const;
  bool Belongs(const LoggedEvent& logged, JobId job) const;

  const size_t events_max_;
  std::deque<LoggedEvent> events_;
  absl::btree_map<JobId, Revision> ended_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_EVENT_LOG_H_
