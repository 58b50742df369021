#include "coordinator/service/journal_codec.h"

#include <utility>

#include "base/status.h"
#include "coordinator/convert/journal.h"

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

}  // namespace skerry::coordinator
