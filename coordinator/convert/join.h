// coordinator/convert/join.h
//
// Converts join tokens, and the workers that they let in, between the core, the
// journal and operators.
#ifndef SKERRY_COORDINATOR_CONVERT_JOIN_H_
#define SKERRY_COORDINATOR_CONVERT_JOIN_H_

#include "absl/status/statusor.h"
#include "coordinator/core/log/join_records.h"
#include "coordinator/core/log/join_table.h"
#include "proto/skerry/v1/journal.pb.h"
#include "proto/skerry/v1/snapshot.pb.h"

namespace skerry::coordinator {

v1::JoinChanged JoinToProto(const JoinChanged& changed);
// Errors: InvalidArgument, an unknown kind.
absl::StatusOr<JoinChanged> JoinFromProto(const v1::JoinChanged& changed);

void JoinsToProto(const JoinSnapshot& joins, v1::JournalSnapshot* out);
JoinSnapshot JoinsFromProto(const v1::JournalSnapshot& snapshot);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CONVERT_JOIN_H_
