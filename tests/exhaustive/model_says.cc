// What a worker of the model says, and what it hears.
#include <algorithm>

#include "base/check.h"
#include "coordinator/core/testing/orders_of.h"
#include "tests/exhaustive/model.h"

namespace skerry::exhaustive {
namespace {

using protocol::CommittedEntry;
using protocol::FragmentFacts;
using protocol::HeldBase;
using protocol::JobOrders;
using protocol::SpanHolder;
using protocol::StatusFacts;

constexpr uint64_t kElementsPerSpan = 4096;
constexpr uint64_t kBootsPerWorker = 1000;

// The end of the results that the disk has of held spans, behind `applied`.
Sequence StoredThrough(const WorkerState& worker, uint32_t fragment,
                       Sequence applied) {
  const Seat& seat = worker.seat;
  for (Sequence next = Next(applied);; next = Next(next)) {
    const auto entry = seat.parts[fragment].known.find(next);
    if (entry == seat.parts[fragment].known.end()) break;
    for (uint32_t span = seat.begin; span < seat.end; ++span) {
      if (!worker.disk.results.contains(
              {fragment, next.value(), entry->second.attempt.value(), span})) {
        return Sequence(next.value() - 1);
      }
    }
    applied = next;
  }
  return applied;
}

Sequence FirstKept(const WorkerState& worker, uint32_t fragment,
                   Sequence last) {
  const Seat& seat = worker.seat;
  Sequence first;
  for (; last.is_set(); last = Sequence(last.value() - 1)) {
    const auto entry = seat.parts[fragment].known.find(last);
    if (entry == seat.parts[fragment].known.end()) break;
    for (uint32_t span = seat.begin; span < seat.end; ++span) {
      if (!worker.disk.results.contains(
              {fragment, last.value(), entry->second.attempt.value(), span})) {
        return first;
      }
    }
    first = last;
  }
  return first;
}

void AddBases(const WorkerState& worker, uint32_t fragment,
              FragmentFacts& facts) {
  const Seat& seat = worker.seat;
  for (const auto& [key, hash] : worker.disk.bases) {
    const auto [of, sequence, span] = key;
    if (of != fragment) continue;
    const bool at_edge = span == seat.begin || span == seat.end;
    if (facts.bases.empty() || at_edge ||
        facts.bases.back().sequence.value() != sequence ||
        facts.bases.back().span_begin + facts.bases.back().hashes.size() !=
            span) {
      facts.bases.push_back({Sequence(sequence), span, {}});
    }
    facts.bases.back().hashes.push_back(hash);
  }
}

}  // namespace

void Model::Boot(WorkerState& worker) {
  const auto index = static_cast<uint64_t>(&worker - workers_.data());
  ++worker.starts;
  worker.boot = skerry::Boot(kBootsPerWorker * (index + 1) + worker.starts);
  worker.incarnation = Incarnation();
  worker.counter = 0;
  worker.seat = Seat();
  worker.told = 0;
  worker.heard = 0;
  worker.last.reset();
  worker.before.reset();
}

StatusFacts Model::StatusOf(const WorkerState& worker) const {
  StatusFacts status;
  status.release = "test";
  status.self = {worker.name, worker.name, ""};
  status.island = worker.island;
  status.boot = worker.boot;
  status.folder = FolderId(1);
  status.incarnation = worker.incarnation;
  if (scenario_.program) {
    status.programs = {{kProgram, std::string(64, 'a')}};
  }
  const Seat& seat = worker.seat;
  if (!seat.is_there) return status;
  protocol::JobFacts facts;
  facts.job = job_;
  facts.life = seat.life;
  facts.abandoned_life = seat.abandoned;
  facts.state = seat.resting         ? protocol::SeatState::kResting
                : seat.life.is_set() ? protocol::SeatState::kActive
                                     : protocol::SeatState::kRecovering;
  facts.element_count =
      kElementsPerSpan * scenario_.spans * scenario_.fragments;
  facts.epoch_samples = scenario_.samples;
  facts.initial_hash = InitialHash(worker);
  for (uint32_t f = 0; f < scenario_.fragments; ++f) {
    facts.fragments.push_back(FragmentOf(worker, f));
  }
  for (const Sequence sequence : seat.evaluated) {
    facts.evaluations.push_back({sequence, 1.0, 1});
  }
  facts.checkpoint = seat.saved;
  status.jobs.push_back(std::move(facts));
  return status;
}

FragmentFacts Model::FragmentOf(const WorkerState& worker,
                                uint32_t fragment) const {
  const Seat& seat = worker.seat;
  FragmentFacts facts;
  facts.fragment = FragmentId(fragment);
  facts.span_begin = seat.begin;
  AddBases(worker, fragment, facts);
  if (seat.parts.empty()) return facts;
  const Part& part = seat.parts[fragment];
  facts.stored = part.stored;
  facts.ready = part.ready;
  if (scenario_.by_link) AddProgress(worker, fragment, facts);
  if (const auto oldest = part.Oldest()) facts.pin = *oldest;
  const auto applied = seat.Applied(fragment);
  if (!applied.has_value()) return facts;
  facts.applied = *applied;
  if (part.IsLevel()) {
    for (const auto& [span, state] : part.spans) {
      facts.anchor_hashes.push_back(state.anchor);
    }
  }
  facts.stored_through = StoredThrough(worker, fragment, *applied);
  facts.first_result_kept = FirstKept(worker, fragment, facts.stored_through);
  return facts;
}

void Model::Tell(WorkerState& worker) {
  worker.told = SaysHash(worker);
  StatusFacts status = StatusOf(worker);
  status.counter = ++worker.counter;
  worker.before = std::exchange(worker.last, status);
  Deliver(worker, status);
  NotePins(worker);
}

// Whether the coordinator knows by now what the worker needs of others, and
// it was not too late.
void Model::NotePins(WorkerState& worker) {
  for (uint32_t f = 0; f < worker.seat.parts.size(); ++f) {
    Part& part = worker.seat.parts[f];
    const auto oldest = part.Oldest();
    if (part.pin_told || !oldest.has_value()) continue;
    const auto orders = coordinator::OrdersOf(cluster_, worker.name, now_);
    part.pin_told = orders.ok() && orders->boot == worker.boot &&
                    !orders->jobs.empty() &&
                    orders->jobs[0].fragments.at(f).keep_from <= *oldest &&
                    !Lacking(worker, f).has_value();
  }
}

void Model::Hear(WorkerState& worker) {
  const auto orders = coordinator::OrdersOf(cluster_, worker.name, now_);
  SKERRY_CHECK(orders.ok());
  worker.heard = HashOf(*orders);
  worker.incarnation = orders->incarnation;
  bool named = false;
  for (const JobOrders& job : orders->jobs) {
    Follow(worker, job);
    named = true;
  }
  if (!named) worker.seat = Seat();
}

void Model::Follow(WorkerState& worker, const JobOrders& orders) {
  const bool went_back =
      worker.seat.is_there && orders.restored != worker.seat.orders.restored;
  if (went_back) worker.seat = Seat();
  Seat& seat = worker.seat;
  seat.is_there = true;
  seat.orders = orders;
  seat.parts.resize(scenario_.fragments);
  SpanHolder own;
  for (const SpanHolder& holder : orders.holders) {
    if (holder.peer.worker == worker.name) own = holder;
  }
  const bool moved = own.span_begin != seat.begin || own.span_end != seat.end;
  const Life life = orders.life > seat.abandoned ? orders.life : Life();
  if (seat.life != life || (!seat.life.is_set() && moved)) EndLife(seat, life);
  if (moved) {
    seat.begin = own.span_begin;
    seat.end = own.span_end;
    for (Part& part : seat.parts) {
      part.spans.clear();
      part.pin_told = false;
    }
  }
  if (orders.phase > protocol::JobPhase::kRunning) {
    seat.resting = true;
    seat.running.reset();
    for (Part& part : seat.parts) part.ready.reset();
  }
  for (uint32_t f = 0; f < orders.fragments.size(); ++f) {
    for (const CommittedEntry& entry : orders.fragments[f].committed) {
      seat.parts[f].known.emplace(entry.sequence, entry);
    }
    TakeOutcome(worker, f);
    Forget(worker, f);
  }
}

// A life that ended owes nothing.
void Model::EndLife(Seat& seat, Life next) {
  for (Part& part : seat.parts) {
    part.ready.reset();
    part.stored.reset();
    part.trained = data::RangeSet();
    part.at_boundary = false;
    part.outcome = Sequence();
  }
  seat.running.reset();
  seat.used = data::RangeSet();
  seat.newest = skerry::Round();
  seat.life = next;
}

void Model::TakeOutcome(WorkerState& worker, uint32_t fragment) {
  Seat& seat = worker.seat;
  Part& part = seat.parts[fragment];
  const auto& outcome = seat.orders.fragments[fragment].outcome;
  if (!outcome.has_value() || !part.ready.has_value() ||
      outcome->round != part.ready->round ||
      outcome->kind == protocol::Outcome::Kind::kPending) {
    return;
  }
  const bool committed = outcome->kind == protocol::Outcome::Kind::kCommitted;
  if (history_.FateOf(fragment, seat.life, outcome->round) != committed) {
    Break("4.4: an outcome that is not the journal's");
  }
  part.ready.reset();
  if (committed) part.outcome = outcome->sequence;
}

// What the coordinator says may go (PROTOCOL 5.8).
void Model::Forget(WorkerState& worker, uint32_t fragment) {
  const Part& part = worker.seat.parts[fragment];
  const Sequence keep_from = worker.seat.orders.fragments[fragment].keep_from;
  std::erase_if(worker.disk.bases, [&](const auto& base) {
    const auto [of, sequence, span] = base.first;
    return of == fragment && sequence < keep_from.value();
  });
  std::erase_if(worker.disk.results, [&](const auto& result) {
    const auto [of, sequence, attempt, span] = result.first;
    if (of != fragment) return false;
    const auto entry = part.known.find(Sequence(sequence));
    const bool lost =
        entry != part.known.end() && entry->second.attempt.value() != attempt;
    return sequence <= keep_from.value() || lost;
  });
}

const WorkerState* Model::Find(const std::string& name) const {
  for (const WorkerState& worker : workers_) {
    if (worker.name == name) return &worker;
  }
  return nullptr;
}

}  // namespace skerry::exhaustive
