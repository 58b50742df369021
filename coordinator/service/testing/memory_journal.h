// coordinator/service/testing/memory_journal.h
//
// Keeps a journal in memory. Its disk can be slow, fail, or outlive its
// process.
#ifndef SKERRY_COORDINATOR_SERVICE_TESTING_MEMORY_JOURNAL_H_
#define SKERRY_COORDINATOR_SERVICE_TESTING_MEMORY_JOURNAL_H_

#include <optional>
#include <utility>
#include <vector>

#include "coordinator/service/journal.h"
#include "runtime/event_loop.h"

namespace skerry::coordinator {

// What is left when the process dies. One journal at a time writes to it. A
// later journal takes it over, and the earlier one then fails.
struct MemoryDisk {
  std::optional<JournalSnapshot> snapshot;
  // After the snapshot.
  std::vector<JournalEntry> entries;
  uint64_t term = 0;

  uint64_t last_index() const {
    if (!entries.empty()) return entries.back().index.value();
    return snapshot.has_value() ? snapshot->index.value() : 0;
  }
};

class MemoryJournal final : public Journal {
 public:
  // `disk` and `loop` outlive the journal.
  MemoryJournal(
      MemoryDisk& disk, runtime::EventLoop& loop,
      JournalFailure on_failure = [](absl::Status) {});

  absl::StatusOr<std::optional<JournalSnapshot>> ReadSnapshot() override {
    return disk_.snapshot;
  }
  absl::Status Read(
      absl::FunctionRef<absl::Status(const JournalEntry&)> take) override;
  uint64_t term() const override { return term_; }
  void Append(std::vector<JournalEntry> batch,
              absl::AnyInvocable<void() &&> done) override;
  void Compact(JournalSnapshot snapshot,
               absl::AnyInvocable<void() &&> done) override;

  // Holds batches until Release(), like a slow disk. Dropping a held journal is
  // a crash before the sync.
  void Hold() { held_ = true; }
  void Release();
  bool batch_waits() const { return waiting_.has_value(); }
  // The next batch is not written.
  void FailNext() { fail_next_ = true; }

 private:
  struct Batch {
    std::vector<JournalEntry> entries;
    std::optional<JournalSnapshot> snapshot;
    absl::AnyInvocable<void() &&> done;
  };
  void Take(Batch batch);
  void Write(Batch batch);

  MemoryDisk& disk_;
  const uint64_t term_;
  runtime::EventLoop& loop_;
  JournalFailure on_failure_;
  bool held_ = false;
  bool fail_next_ = false;
  std::optional<Batch> waiting_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_TESTING_MEMORY_JOURNAL_H_
