// protocol/heard_orders.h
//
// Defines orders as a worker takes them in. A job whose orders make no sense
// spoils no other: it stands apart.
#ifndef SKERRY_PROTOCOL_HEARD_ORDERS_H_
#define SKERRY_PROTOCOL_HEARD_ORDERS_H_

#include <vector>

#include "absl/status/status.h"
#include "protocol/orders.h"
#include "protocol/stored_jobs.h"

namespace skerry::protocol {

struct HeardOrders {
  struct Refused {
    StoredJobKey job;
    // InvalidArgument: names the field and what is wrong.
    absl::Status why;
  };
  Orders orders;
  std::vector<Refused> refused;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_HEARD_ORDERS_H_
