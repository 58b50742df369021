// coordinator/service/journal.h
//
// Defines the coordinator's memory: one total order of records. Each record is
// durable before anything that rests on it is said (PROTOCOL 2). A snapshot
// takes the place of all records up to one of them. The journal knows bytes,
// not their meaning.
#ifndef SKERRY_COORDINATOR_SERVICE_JOURNAL_H_
#define SKERRY_COORDINATOR_SERVICE_JOURNAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"

namespace skerry::coordinator {

// The kind of JournalRecord.numbers_raised. Only a record of this kind may skip
// indexes.
inline constexpr uint32_t kJumpKind = 24;

struct JournalEntry {
  // The first record has index 1. Gaps come only before a record of kJumpKind.
  Revision index;
  // Field number of the record in JournalRecord.kind, for people who look into
  // the file.
  uint32_t kind = 0;
  // A serialized JournalRecord.
  std::string payload;

  friend bool operator==(const JournalEntry&, const JournalEntry&) = default;
};

struct JournalSnapshot {
  // The index of the last record that the snapshot replaces.
  Revision index;
  // A serialized v1::JournalSnapshot.
  std::string payload;

  friend bool operator==(const JournalSnapshot&,
                         const JournalSnapshot&) = default;
};

// Returns true if an entry of this kind may have `index` when `last` is the
// newest index.
inline bool Follows(uint32_t kind, uint64_t index, uint64_t last) {
  return index == last + 1 || (kind == kJumpKind && index > last);
}

// Calls come from one thread at a time, and Append() only from the loop's
// thread.
class Journal {
 public:
  virtual ~Journal() = default;

  // The newest; none while every record is there. Called before Read(); may
  // block. Codes: DataLoss, it does not match its checksum.
  virtual absl::StatusOr<std::optional<JournalSnapshot>> ReadSnapshot() = 0;

  // Hands every durable entry after the snapshot to `take`, oldest first, and
  // stops at its first error, which it returns. Called before the first
  // Append(); may block.
  // Codes: DataLoss, an entry is missing or does not match its checksum.
  virtual absl::Status Read(
      absl::FunctionRef<absl::Status(const JournalEntry&)> take) = 0;

  // How often the journal has been opened, this time included.
  virtual uint64_t term() const = 0;

  // Makes `batch` durable as a whole or not at all, then runs `done` on the
  // loop. One batch at a time: the next call comes after `done`. Indexes go on
  // from the last entry. A batch that cannot be made durable never runs `done`
  // and ends the journal: the failure handler that the journal was made with is
  // told why, and has to end the process.
  virtual void Append(std::vector<JournalEntry> batch,
                      absl::AnyInvocable<void() &&> done) = 0;

  // Replaces the earlier snapshot and all records up to the index of `snapshot`
  // with it, as a whole or not at all. It works like Append() and counts as a
  // batch. Requires: `index` is that of the last entry.
  virtual void Compact(JournalSnapshot snapshot,
                       absl::AnyInvocable<void() &&> done) = 0;
};

// Told on the loop. Codes: Aborted, another writer has taken the journal over;
// Internal, the disk did not take the batch.
using JournalFailure = absl::AnyInvocable<void(absl::Status) &&>;

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_JOURNAL_H_
