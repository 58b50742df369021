// coordinator/convert/snapshot.h
//
// Converts the core's snapshot, and the events beside it, to messages of
// snapshot.proto and back.
#ifndef SKERRY_COORDINATOR_CONVERT_SNAPSHOT_H_
#define SKERRY_COORDINATOR_CONVERT_SNAPSHOT_H_

#include "absl/status/statusor.h"
#include "coordinator/core/log/snapshot.h"
#include "coordinator/core/views/events.h"
#include "proto/skerry/v1/snapshot.pb.h"

namespace skerry::coordinator {

v1::JournalSnapshot SnapshotToProto(const ClusterSnapshot& state,
                                    const EventHistory& events);

// Errors: DataLoss names the field: the snapshot was not written by this
// program, or by one of another release.
absl::StatusOr<ClusterSnapshot> SnapshotFromProto(
    const v1::JournalSnapshot& snapshot);

EventHistory EventsFromProto(const v1::JournalSnapshot& snapshot);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CONVERT_SNAPSHOT_H_
