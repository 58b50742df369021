#include "coordinator/service/journal_codec.h"

#include <utility>

#include "base/status.h"
#include "coordinator/convert/journal.h"
#include "coordinator/convert/snapshot.h"

namespace skerry::coordinator {

JournalEntry EntryToJournal(const Entry& entry) {
  const v1::JournalRecord record = RecordToProto(entry.record);
  return {entry.index, static_cast<uint32_t>(record.kind_case()),
          record.SerializeAsString()};
}

absl::StatusOr<Entry> EntryFromJournal(const JournalEntry& durable) {
  v1::JournalRecord record;
  if (!record.ParseFromString(durable.payload)) {
    return absl::DataLossError("its bytes are no record");
  }
  SKERRY_ASSIGN_OR_RETURN(Record read, RecordFromProto(record));
  return Entry{durable.index, std::move(read)};
}

JournalSnapshot SnapshotToJournal(const ClusterSnapshot& state,
                                  const EventHistory& events) {
  return {state.revision, SnapshotToProto(state, events).SerializeAsString()};
}

absl::StatusOr<SavedCluster> SnapshotFromJournal(
    const JournalSnapshot& durable) {
  v1::JournalSnapshot snapshot;
  if (!snapshot.ParseFromString(durable.payload) ||
      snapshot.revision() != durable.index.value()) {
    return absl::DataLossError("its bytes are no snapshot of its place");
  }
  SKERRY_ASSIGN_OR_RETURN(ClusterSnapshot state, SnapshotFromProto(snapshot));
  return SavedCluster{std::move(state), EventsFromProto(snapshot)};
}

}  // namespace skerry::coordinator
