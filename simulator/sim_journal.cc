#include "simulator/sim_journal.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "simulator/worker_disk.h"

namespace skerry::sim {

using coordinator::JournalEntry;
using coordinator::JournalSnapshot;

SimJournal::SimJournal(JournalDisk& disk, Timeline& timeline, Random& random,
                       runtime::EventLoop& loop, OnDurable on_durable,
                       coordinator::JournalFailure on_failure)
    : disk_(disk),
      term_(++disk.term),
      timeline_(timeline),
      random_(random),
      loop_(loop),
      on_durable_(std::move(on_durable)),
      on_failure_(std::move(on_failure)) {}

SimJournal::~SimJournal() {
  if (waiting_.has_value() && !disk_.full && random_.Below(2) == 0) Apply();
}

absl::Status SimJournal::Read(
    absl::FunctionRef<absl::Status(const JournalEntry&)> take) {
  for (const JournalEntry& entry : disk_.entries) {
    SKERRY_RETURN_IF_ERROR(take(entry));
  }
  return absl::OkStatus();
}

void SimJournal::Append(std::vector<JournalEntry> batch,
                        absl::AnyInvocable<void() &&> done) {
  Take({std::move(batch), std::nullopt, std::move(done)});
}

void SimJournal::Compact(JournalSnapshot snapshot,
                         absl::AnyInvocable<void() &&> done) {
  Take({{}, std::move(snapshot), std::move(done)});
}

void SimJournal::Take(Batch batch) {
  SKERRY_CHECK(!waiting_.has_value());
  waiting_ = std::move(batch);
  const absl::Duration took = absl::Microseconds(100 + random_.Below(2000)) *
                              std::min(disk_.slowness, kSlownessMax);
  timeline_.After(took, [this, alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired()) Sync();
  });
}

void SimJournal::Sync() {
  absl::Status failure;
  if (disk_.term != term_) {
    failure = absl::AbortedError("the journal was taken over");
  } else if (disk_.full || std::exchange(disk_.fails_next, false)) {
    failure = absl::InternalError("the disk did not take the batch");
  }
  if (!failure.ok()) {
    waiting_.reset();
    loop_.Post([this, failure = std::move(failure)]() mutable {
      std::move(on_failure_)(std::move(failure));
    });
    return;
  }
  absl::AnyInvocable<void()&&> done = std::move(waiting_->done);
  Apply();
  loop_.Post(std::move(done));
}

void SimJournal::Apply() {
  Batch batch = *std::exchange(waiting_, std::nullopt);
  for (const JournalEntry& entry : batch.entries) {
    disk_.entries.push_back(entry);
  }
  if (batch.snapshot.has_value()) {
    disk_.entries.clear();
    disk_.snapshot = std::move(batch.snapshot);
  }
  if (!batch.entries.empty()) on_durable_(batch.entries);
}

}  // namespace skerry::sim
