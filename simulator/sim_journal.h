// simulator/sim_journal.h
//
// The coordinator's journal on a simulated disk. A batch takes time to become
// durable, and is durable as a whole or not at all. If the process dies while a
// batch is written, either may happen.
#ifndef SKERRY_SIMULATOR_SIM_JOURNAL_H_
#define SKERRY_SIMULATOR_SIM_JOURNAL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/random.h"
#include "coordinator/service/journal.h"
#include "runtime/event_loop.h"
#include "simulator/timeline.h"

namespace skerry::sim {

// The disk under the journal, which outlives processes.
struct JournalDisk {
  std::optional<coordinator::JournalSnapshot> snapshot;
  // The entries after the snapshot.
  std::vector<coordinator::JournalEntry> entries;
  // Term of the journal that was opened last.
  uint64_t term = 0;
  double slowness = 1;
  bool full = false;
  bool fails_next = false;
};

class SimJournal final : public coordinator::Journal {
 public:
  // Called when entries have become durable, also after the process died.
  using OnDurable =
      absl::AnyInvocable<void(const std::vector<coordinator::JournalEntry>&)>;

  // All outlive the journal.
  SimJournal(JournalDisk& disk, Timeline& timeline, Random& random,
             runtime::EventLoop& loop, OnDurable on_durable,
             coordinator::JournalFailure on_failure);
  // The process has died.
  ~SimJournal() override;

  absl::StatusOr<std::optional<coordinator::JournalSnapshot>> ReadSnapshot()
      override {
    return disk_.snapshot;
  }
  absl::Status Read(
      absl::FunctionRef<absl::Status(const coordinator::JournalEntry&)> take)
      override;
  uint64_t term() const override { return term_; }
  void Append(std::vector<coordinator::JournalEntry> batch,
              absl::AnyInvocable<void() &&> done) override;
  void Compact(coordinator::JournalSnapshot snapshot,
               absl::AnyInvocable<void() &&> done) override;

 private:
  struct Batch {
    std::vector<coordinator::JournalEntry> entries;
    std::optional<coordinator::JournalSnapshot> snapshot;
    absl::AnyInvocable<void() &&> done;
  };
  void Take(Batch batch);
  void Sync();
  void Apply();

  JournalDisk& disk_;
  const uint64_t term_;
  Timeline& timeline_;
  Random& random_;
  runtime::EventLoop& loop_;
  OnDurable on_durable_;
  coordinator::JournalFailure on_failure_;
  std::optional<Batch> waiting_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_SIM_JOURNAL_H_
