// coordinator/core/events.h
//
// What a record means to an operator, in words.
#ifndef SKERRY_COORDINATOR_CORE_EVENTS_H_
#define SKERRY_COORDINATOR_CORE_EVENTS_H_

#include <optional>

#include "coordinator/core/records.h"
#include "coordinator/core/views.h"

namespace skerry::coordinator {

// Empty for records that are bookkeeping.
std::optional<EventView> EventOf(const Entry& entry);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_EVENTS_H_
