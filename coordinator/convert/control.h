// coordinator/convert/control.h
//
// control.proto <-> the core's facts and orders. Every check of what a worker
// sent is here, and nothing that passes it can break a promise of the core.
#ifndef SKERRY_COORDINATOR_CONVERT_CONTROL_H_
#define SKERRY_COORDINATOR_CONVERT_CONTROL_H_

#include "absl/status/statusor.h"
#include "coordinator/core/facts.h"
#include "coordinator/core/orders.h"
#include "proto/skerry/v1/control.pb.h"

namespace skerry::coordinator {

// Errors: FailedPrecondition when the protocol versions do not meet, naming
// both; InvalidArgument names the field and what is wrong.
absl::StatusOr<StatusFacts> StatusFromProto(const v1::Status& status);

// Replaces `out`.
void OrdersToProto(const Orders& orders, v1::Orders* out);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CONVERT_CONTROL_H_
