// coordinator/core/views/logged_event.h
//
// Defines an event together with the time at which it happened.
#ifndef SKERRY_COORDINATOR_CORE_VIEWS_LOGGED_EVENT_H_
#define SKERRY_COORDINATOR_CORE_VIEWS_LOGGED_EVENT_H_

#include "base/instant.h"
#include "coordinator/core/views/views.h"

namespace skerry::coordinator {

struct LoggedEvent {
  EventView event;
  // When this process made it durable or read it back.
  Instant at;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_VIEWS_LOGGED_EVENT_H_
