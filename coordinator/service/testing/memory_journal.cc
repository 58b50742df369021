#include "coordinator/service/testing/memory_journal.h"

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"

namespace skerry::coordinator {

MemoryJournal::MemoryJournal(MemoryDisk& disk, runtime::EventLoop& loop,
                             JournalFailure on_failure)
    : disk_(disk),
      term_(++disk.term),
      loop_(loop),
      on_failure_(std::move(on_failure)) {}

absl::Status MemoryJournal::Read(
    absl::FunctionRef<absl::Status(const JournalEntry&)> take) {
  for (const JournalEntry& entry : disk_.entries) {
    SKERRY_RETURN_IF_ERROR(take(entry));
  }
  return absl::OkStatus();
}

void MemoryJournal::Append(std::vector<JournalEntry> batch,
                           absl::AnyInvocable<void() &&> done) {
  Take({std::move(batch), std::nullopt, std::move(done)});
}

void MemoryJournal::Compact(JournalSnapshot snapshot,
                            absl::AnyInvocable<void() &&> done) {
  Take({{}, std::move(snapshot), std::move(done)});
}

void MemoryJournal::Take(Batch batch) {
  SKERRY_CHECK(!waiting_.has_value());
  if (held_) {
    waiting_ = std::move(batch);
    return;
  }
  Write(std::move(batch));
}

void MemoryJournal::Release() {
  held_ = false;
  if (!waiting_.has_value()) return;
  Batch batch = *std::move(waiting_);
  waiting_.reset();
  Write(std::move(batch));
}

void MemoryJournal::Write(Batch batch) {
  absl::Status failure;
  if (disk_.term != term_) {
    failure = absl::AbortedError(
        absl::StrCat("the journal was taken over: it is at term ", disk_.term,
                     ", this writer is of term ", term_));
  } else if (fail_next_) {
    failure = absl::InternalError("the disk did not take the batch");
  }
  if (!failure.ok()) {
    loop_.Post([this, failure = std::move(failure)]() mutable {
      std::move(on_failure_)(std::move(failure));
    });
    return;
  }
  for (JournalEntry& entry : batch.entries) {
    SKERRY_CHECK(Follows(entry.kind, entry.index.value(), disk_.last_index()));
    disk_.entries.push_back(std::move(entry));
  }
  if (batch.snapshot.has_value()) {
    SKERRY_CHECK(batch.snapshot->index.value() == disk_.last_index());
    disk_.entries.clear();
    disk_.snapshot = std::move(batch.snapshot);
  }
  loop_.Post(std::move(batch.done));
}

}  // namespace skerry::coordinator
