// protocol/convert/status.h
//
// Converts the Status of control.proto to protocol/status_facts.h and back.
// Every check of what a worker sent is here, and nothing that passes it can
// break a promise of the coordinator's core.
#ifndef SKERRY_PROTOCOL_CONVERT_STATUS_H_
#define SKERRY_PROTOCOL_CONVERT_STATUS_H_

#include "absl/status/statusor.h"
#include "proto/skerry/v1/control.pb.h"
#include "protocol/status_facts.h"

namespace skerry::protocol {

// Errors: FailedPrecondition when the protocol versions do not meet, naming
// both; InvalidArgument names the field and what is wrong.
absl::StatusOr<StatusFacts> StatusFromProto(const v1::Status& status);

// Replaces `out`.
void StatusToProto(const StatusFacts& facts, v1::Status* out);

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_CONVERT_STATUS_H_
