// protocol/convert/orders.h
//
// Converts the orders of control.proto to protocol/orders.h and back. Every
// check of what a coordinator sent is here, and nothing that passes it can
// break a promise of the worker's core.
#ifndef SKERRY_PROTOCOL_CONVERT_ORDERS_H_
#define SKERRY_PROTOCOL_CONVERT_ORDERS_H_

#include <vector>

#include "absl/status/status.h"
#include "proto/skerry/v1/control.pb.h"
#include "protocol/orders.h"

namespace skerry::protocol {

// Orders as a worker takes them in. A job whose orders make no sense spoils no
// other: it stands apart.
struct HeardOrders {
  struct Refused {
    StoredJobKey job;
    // InvalidArgument: names the field and what is wrong.
    absl::Status why;
  };
  Orders orders;
  std::vector<Refused> refused;
};
HeardOrders OrdersFromProto(const v1::Orders& orders);

// Replaces `out`.
void OrdersToProto(const Orders& orders, v1::Orders* out);

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_CONVERT_ORDERS_H_
