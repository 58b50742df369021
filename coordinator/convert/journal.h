// coordinator/convert/journal.h
//
// Converts the core's records to messages of journal.proto and back.
#ifndef SKERRY_COORDINATOR_CONVERT_JOURNAL_H_
#define SKERRY_COORDINATOR_CONVERT_JOURNAL_H_

#include "absl/status/statusor.h"
#include "coordinator/core/log/records.h"
#include "proto/skerry/v1/journal.pb.h"

namespace skerry::coordinator {

v1::JournalRecord RecordToProto(const Record& record);

// Errors: DataLoss names the field: the journal was not written by this
// program, or by one of another release.
absl::StatusOr<Record> RecordFromProto(const v1::JournalRecord& record);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CONVERT_JOURNAL_H_
