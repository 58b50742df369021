// coordinator/service/journal_codec.h
//
// Converts the core's records and snapshots to the journal's bytes and back.
#ifndef SKERRY_COORDINATOR_SERVICE_JOURNAL_CODEC_H_
#define SKERRY_COORDINATOR_SERVICE_JOURNAL_CODEC_H_

#include "absl/status/statusor.h"
#include "coordinator/core/log/records.h"
#include "coordinator/core/log/snapshot.h"
#include "coordinator/core/views/events.h"
#include "coordinator/service/journal.h"

namespace skerry::coordinator {

JournalEntry EntryToJournal(const Entry& entry);

// Errors: DataLoss when the bytes are no record.
absl::StatusOr<Entry> EntryFromJournal(const JournalEntry& durable);

JournalSnapshot SnapshotToJournal(const ClusterSnapshot& state,
                                  const EventHistory& events);

struct SavedCluster {
  ClusterSnapshot state;
  EventHistory events;
};
// Errors: DataLoss when the bytes are no snapshot.
absl::StatusOr<SavedCluster> SnapshotFromJournal(
    const JournalSnapshot& durable);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_JOURNAL_CODEC_H_
