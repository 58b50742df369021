// protocol/convert/orders.h
//
// Converts the orders of control.proto to protocol/orders.h and back. Every
// check of what a coordinator sent is here, and nothing that passes it can
// break a promise of the worker's core.
#ifndef SKERRY_PROTOCOL_CONVERT_ORDERS_H_
#define SKERRY_PROTOCOL_CONVERT_ORDERS_H_

#include "proto/skerry/v1/control.pb.h"
#include "protocol/heard_orders.h"
#include "protocol/orders.h"

namespace skerry::protocol {

HeardOrders OrdersFromProto(const v1::Orders& orders);

// Replaces `out`.
void OrdersToProto(const Orders& orders, v1::Orders* out);

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_CONVERT_ORDERS_H_
