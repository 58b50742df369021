#include "bench/micro/fake_rounds.h"

#include <cstdint>

#include "base/ids.h"
#include "data/sample_ranges.h"
#include "protocol/job_facts.h"

namespace skerry::bench {
namespace {

using coordinator::FakePart;
using coordinator::FakeSeat;

bool Apply(FakeSeat& seat, FakePart& part) {
  bool applied = false;
  for (const auto& entry : seat.orders.fragments[0].committed) {
    if (entry.sequence != Next(part.applied)) continue;
    for (auto& [span, anchor] : part.anchors) {
      anchor = coordinator::FoldAnchor(anchor, entry.hashes[span]);
    }
    part.applied = entry.sequence;
    applied = true;
  }
  return applied;
}

bool Report(const FakeSeat& seat, FakePart& part) {
  const auto open = seat.Open(0);
  if (!open.has_value() ||
      (part.stored.has_value() && part.stored->attempt == open->attempt)) {
    return false;
  }
  part.stored = protocol::StoredResult{open->sequence, open->attempt, {}, 1};
  for (uint32_t span = seat.span_begin; span < seat.span_end; ++span) {
    part.stored->hashes.push_back(
        coordinator::ResultHash(open->attempt, open->members, span));
  }
  return true;
}

}  // namespace

bool FollowOrders(coordinator::FakeWorker& worker) {
  bool is_new = false;
  for (auto& [id, seat] : worker.seats()) {
    FakePart& part = seat.parts[0];
    if (seat.state == protocol::SeatState::kStarting) {
      seat.state = protocol::SeatState::kRecovering;
      is_new = true;
    }
    if (Apply(seat, part)) is_new = true;
    if (seat.life.is_set() && Report(seat, part)) is_new = true;
  }
  return is_new;
}

bool TrainRound(coordinator::FakeWorker& worker) {
  bool trained = false;
  for (auto& [id, seat] : worker.seats()) {
    FakePart& part = seat.parts[0];
    if (!seat.life.is_set() || part.ready.has_value()) continue;
    data::RangeSet fresh = seat.orders.granted.Subtract(seat.used);
    const auto& training = seat.orders.spec.training;
    const data::RangeSet taken =
        fresh.TakeFirst(uint64_t{training.tau} * training.batch_samples *
                        seat.orders.holders.size());
    if (taken.empty()) continue;
    seat.used = seat.used.Union(taken);
    seat.newest_round = Next(seat.newest_round);
    part.trained = taken;
    seat.Deliver(0, seat.newest_round);
    trained = true;
  }
  return trained;
}

}  // namespace skerry::bench
