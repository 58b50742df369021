// transport/grpc/relay_options.h
//
// Bounds what a relay takes from the workers between which it passes calls on.
#ifndef SKERRY_TRANSPORT_GRPC_RELAY_OPTIONS_H_
#define SKERRY_TRANSPORT_GRPC_RELAY_OPTIONS_H_

#include <cstddef>

#include "absl/time/time.h"

namespace skerry::transport {

struct RelayOptions {
  // A call for a pair that the orders do not name waits this long, because the
  // other two may have heard of the pair first. Orders come with every Status.
  absl::Duration named_within = absl::Seconds(10);
  // A sender or asker whose peer has opened no call waits this long.
  absl::Duration opened_within = absl::Seconds(30);
  // Calls of one worker at a time.
  size_t calls_per_worker_max = 4096;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_RELAY_OPTIONS_H_
