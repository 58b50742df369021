#include "tests/exhaustive/frame_worker.h"

#include <algorithm>
#include <span>

#include "base/check.h"
#include "base/hash.h"

namespace skerry::exhaustive {

using worker::OwedBook;
using worker::PieceKey;
using worker::Recovery;
using worker::StoredFile;

FrameWorker::FrameWorker(const FrameJob& job, std::string name, uint32_t begin,
                         uint32_t end, const Peers& peers)
    : job_(job),
      name_(std::move(name)),
      peers_(peers),
      fragment_(
          {0, JobId(1), name_, absl::Milliseconds(250), 8, job.part_bytes}, {},
          {trainer_, *this, *this, cuts_, *this},
          [this](Instant) { Advance(); },
          [this](Instant, const std::string& why) { failure_ = why; }) {
  fragment_.Configure(job.settings, job.layout);
  fragment_.recovery().SetHoldings(begin, end);
}

void FrameWorker::Prepare(Life life, const data::RangeSet& ranges,
                          const std::vector<float>& delta) {
  Recovery& recovery = fragment_.recovery();
  const std::vector<float> initial(delta.size(), 1.0f);
  live_ = initial;
  recovery.SetInitialAtHand(true);
  Advance();
  if (recovery.WantsInitial()) {
    recovery.OnInitial(now_, {nullptr, std::span<float>(live_)});
  }
  RunAll();
  SKERRY_CHECK(recovery.ready());
  fragment_.BeginLife(life);
  fragment_.AddSamples(ranges);
  fragment_.AddReport({ranges.total(), 1, 1.0, 1.0, 1.0}, ranges.total());
  for (size_t i = 0; i < live_.size(); ++i) live_[i] -= delta[i];
  std::vector<OwedBook::RoundEnd> ends;
  for (uint32_t span = recovery.begin(); span < recovery.end(); ++span) {
    ends.push_back({recovery.StateOf(span)->values,
                    {nullptr, std::span<float>(live_)},
                    job_.layout.spans[span]});
  }
  fragment_.book().Add(fragment_.Produced(Round(1)), ends,
                       [this](Instant, absl::Status status) {
                         SKERRY_CHECK(status.ok());
                         fragment_.OnBoundary();
                       });
  RunAll();
  SKERRY_CHECK(fragment_.book().pending().has_value());
}

void FrameWorker::Hear(const protocol::FragmentOrders& orders,
                       const std::vector<protocol::SpanHolder>& holders) {
  Cause(CombineHash(
      1, orders.open.has_value() ? orders.open->attempt.value() : 0));
  fragment_.TakeOrders(orders, holders);
  Advance();
}

protocol::FrameVerdict FrameWorker::Take(const SentFrame& frame) {
  uint64_t cause = CombineHash(2, frame.header.payload_hash);
  cause = CombineHash(cause, frame.header.span);
  cause = CombineHash(cause, frame.header.part);
  Cause(CombineHash(cause, frame.header.sender));
  return fragment_.OnFrame(frame.header, frame.payload);
}

void FrameWorker::Run(size_t index) {
  Task task = std::move(work_[index]);
  work_.erase(work_.begin() + static_cast<ptrdiff_t>(index));
  Cause(CombineHash(3, task.cause));
  std::move(task.run)();
}

bool FrameWorker::CanWait() const {
  return fragment_.recovery().NextDeadline().has_value();
}

void FrameWorker::Wait() {
  Cause(4);
  now_ = std::max(now_, *fragment_.recovery().NextDeadline());
  Advance();
}

std::vector<uint64_t> FrameWorker::Work() const {
  std::vector<uint64_t> causes;
  for (const Task& task : work_) causes.push_back(task.cause);
  return causes;
}

void FrameWorker::Cause(uint64_t cause) {
  cause_ = cause;
  tasks_ = 0;
}

// As a seat does whose trainer is idle, with what it has stored as the cut.
void FrameWorker::Advance() {
  again_ = true;
  if (advancing_) return;
  advancing_ = true;
  while (std::exchange(again_, false)) {
    fragment_.ConsiderOutcome(now_);
    fragment_.ConsiderExchange(now_);
    Recovery& recovery = fragment_.recovery();
    if (!fragment_.Waits() &&
        recovery.stored_through() >= fragment_.outcome_sequence()) {
      recovery.SetTarget(recovery.stored_through());
    }
    recovery.Pump(now_);
  }
  advancing_ = false;
}

void FrameWorker::Later(absl::AnyInvocable<void() &&> task) {
  work_.push_back({CombineHash(cause_, tasks_++), std::move(task)});
}

void FrameWorker::RunAll() {
  while (!work_.empty()) Run(0);
}

void FrameWorker::Fetch(const std::string& from, const PieceKey& key,
                        worker::Done<absl::StatusOr<SharedBytes>> done) {
  Later([this, from, key, done = std::move(done)]() mutable {
    std::move(done)(now_, peers_(from, key));
  });
}

void FrameWorker::Store(const StoredFile& file,
                        std::vector<SharedBytes> contents,
                        worker::Done<absl::Status> done) {
  Later([this, file, contents = std::move(contents),
         done = std::move(done)]() mutable {
    disk_.push_back({file, std::move(contents)});
    std::move(done)(now_, absl::OkStatus());
  });
}

absl::StatusOr<SharedBytes> FrameWorker::Map(const StoredFile& file,
                                             uint32_t span) {
  for (const auto& [stored, contents] : disk_) {
    if (!(stored == file)) continue;
    for (size_t i = 0; i < stored.pieces.size(); ++i) {
      if (stored.pieces[i].span == span) return contents[i];
    }
  }
  return absl::NotFoundError("no such piece");
}

void FrameWorker::Delete(const StoredFile& file) {
  std::erase_if(disk_, [&](const auto& one) { return one.first == file; });
}

void FrameWorker::Compute(absl::AnyInvocable<void() &&> work,
                          absl::AnyInvocable<void(Instant now) &&> done) {
  Later([this, work = std::move(work), done = std::move(done)]() mutable {
    std::move(work)();
    std::move(done)(now_);
  });
}

absl::StatusOr<SharedBytes> FrameWorker::Find(const PieceKey& key) const {
  for (const auto& [stored, contents] : disk_) {
    if (stored.kind != key.kind || stored.sequence != key.sequence ||
        stored.attempt != key.attempt) {
      continue;
    }
    for (size_t i = 0; i < stored.pieces.size(); ++i) {
      if (stored.pieces[i].span == key.span &&
          stored.pieces[i].hash == key.hash) {
        return contents[i];
      }
    }
  }
  return absl::NotFoundError("no such piece");
}

}  // namespace skerry::exhaustive
