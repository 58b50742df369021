#include "coordinator/core/testing/fake_worker.h"

#include <utility>

#include "base/hash.h"

namespace skerry::coordinator {

using protocol::Member;
using protocol::Outcome;
using protocol::SpanHolder;
using protocol::StatusFacts;

uint64_t ResultHash(Attempt attempt, const std::vector<Member>& members,
                    uint32_t span) {
  uint64_t hash = CombineHash(attempt.value(), span);
  for (const Member& member : members) {
    hash = CombineHash(hash, member.life.value());
    hash = CombineHash(hash, member.contribution.round.value());
  }
  return hash;
}

uint64_t FoldAnchor(uint64_t anchor, uint64_t result) {
  return CombineHash(anchor, result);
}

std::optional<protocol::OpenExchange> FakeSeat::Open(size_t part) const {
  if (part >= orders.fragments.size()) return std::nullopt;
  return orders.fragments[part].open;
}

void FakeSeat::Deliver(size_t index, Round round) {
  FakePart& part = parts[index];
  protocol::Contribution ready;
  ready.round = round;
  ready.base = part.applied;
  ready.ranges = part.trained;
  ready.weight = static_cast<double>(part.trained.total());
  ready.scalars.loss = 3.0;
  part.ready = std::move(ready);
  part.trained = data::RangeSet();
}

FakeWorker::FakeWorker(std::string name, std::string island)
    : name_(std::move(name)), island_(std::move(island)) {}

void FakeWorker::Start(Random& random, Instant) {
  boot_ = Boot(random() | 1);
  incarnation_ = Incarnation();
  revision_ = Revision();
  counter_ = 0;
  seats_.clear();
}

StatusFacts FakeWorker::Status() {
  StatusFacts status;
  status.release = "test";
  status.self = {name_, name_ + ":1", ""};
  status.island = island_;
  status.boot = boot_;
  status.folder = FolderId(1);
  status.incarnation = incarnation_;
  status.counter = ++counter_;
  for (const auto& [id, seat] : seats_) {
    protocol::JobFacts facts;
    facts.job = id;
    facts.life = seat.life;
    facts.state = seat.state;
    if (seat.state != SeatState::kStarting) {
      facts.element_count = 8 * 4096;
      facts.epoch_samples = 1000;
      for (const FakePart& part : seat.parts) {
        protocol::FragmentFacts fragment;
        fragment.fragment = FragmentId(facts.fragments.size());
        fragment.span_begin = seat.span_begin;
        fragment.applied = part.applied;
        fragment.stored_through = part.applied;
        for (const auto& [span, anchor] : part.anchors) {
          fragment.anchor_hashes.push_back(anchor);
        }
        fragment.stored = part.stored;
        fragment.ready = part.ready;
        if (!fragment.anchor_hashes.empty()) {
          fragment.bases.push_back(
              {part.applied, seat.span_begin, fragment.anchor_hashes});
        }
        facts.fragments.push_back(std::move(fragment));
      }
    }
    status.jobs.push_back(std::move(facts));
  }
  return status;
}

void FakeWorker::OnOrders(const protocol::Orders& orders, Random& random,
                          Instant now) {
  if (orders.boot != boot_ || orders.revision < revision_) return;
  revision_ = orders.revision;
  incarnation_ = orders.incarnation;
  std::map<JobId, FakeSeat> kept;
  for (const JobOrders& job : orders.jobs) {
    FakeSeat& seat = kept[job.job];
    const auto it = seats_.find(job.job);
    if (it != seats_.end()) {
      seat = std::move(it->second);
    } else {
      seat.started = now + absl::Milliseconds(random.Below(200));
    }
    Follow(seat, job, random, now);
  }
  seats_ = std::move(kept);
}

void FakeWorker::Follow(FakeSeat& seat, const JobOrders& orders, Random& random,
                        Instant now) {
  seat.orders = orders;
  seat.parts.resize(orders.fragments.size());
  SpanHolder own;
  for (const SpanHolder& holder : orders.holders) {
    if (holder.peer.worker == name_) own = holder;
  }
  const bool ended = orders.phase > protocol::JobPhase::kRunning;
  if (ended) {
    seat.state = SeatState::kResting;
    for (FakePart& part : seat.parts) part.ready.reset();
    return;
  }
  const bool moved =
      own.span_begin != seat.span_begin || own.span_end != seat.span_end;
  if (seat.life != orders.life || (!seat.life.is_set() && moved)) {
    // A life that ended owes nothing.
    for (FakePart& part : seat.parts) {
      part.ready.reset();
      part.stored.reset();
      part.trained = data::RangeSet();
    }
    seat.used = data::RangeSet();
    seat.newest_round = Round();
    seat.life = orders.life;
  }
  if (moved) {
    seat.span_begin = own.span_begin;
    seat.span_end = own.span_end;
    for (FakePart& part : seat.parts) {
      part.applied = Sequence();
      part.anchors.clear();
      for (uint32_t span = own.span_begin; span < own.span_end; ++span) {
        part.anchors[span] = span;
      }
    }
    seat.started = now + absl::Milliseconds(random.Below(50));
  }
  if (seat.state != SeatState::kStarting || seat.started <= now) {
    seat.state =
        seat.life.is_set() ? SeatState::kActive : SeatState::kRecovering;
  }
  for (size_t f = 0; f < seat.parts.size(); ++f) {
    FakePart& part = seat.parts[f];
    const std::optional<Outcome>& outcome = orders.fragments[f].outcome;
    if (!part.ready.has_value() || !outcome.has_value() ||
        outcome->round != part.ready->round ||
        outcome->kind == Outcome::Kind::kPending) {
      continue;
    }
    part.ready.reset();
  }
}

}  // namespace skerry::coordinator
