// coordinator/core/views/events.h
//
// Describes records in words, as events for an operator.
#ifndef SKERRY_COORDINATOR_CORE_VIEWS_EVENTS_H_
#define SKERRY_COORDINATOR_CORE_VIEWS_EVENTS_H_

#include <optional>
#include <utility>
#include <vector>

#include "coordinator/core/log/records.h"
#include "coordinator/core/views/views.h"

namespace skerry::coordinator {

// The events whose records a snapshot has replaced.
struct EventHistory {
  // Oldest first.
  std::vector<EventView> events;
  // The newest jobs that have ended, and the record that did it.
  std::vector<std::pair<JobId, Revision>> ended;
  friend bool operator==(const EventHistory&, const EventHistory&) = default;
};

// Returns true for events that every exchange has when all goes well.
bool IsRoutine(const EventView& event);

// Empty for records that are bookkeeping.
std::optional<EventView> EventOf(const Entry& entry);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_VIEWS_EVENTS_H_
