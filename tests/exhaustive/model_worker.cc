// What workers of the model do.
#include <algorithm>

#include "base/check.h"
#include "tests/exhaustive/hashes.h"
#include "tests/exhaustive/model.h"

namespace skerry::exhaustive {

using coordinator::CommittedEntry;
using coordinator::JobOrders;
using coordinator::Member;
using coordinator::Source;
using coordinator::SpanHolder;

void Model::Tell(Worker& worker) {
  worker.told = MemoryHash(worker);
  coordinator::StatusFacts status = StatusOf(worker);
  status.counter = ++worker.counter;
  worker.before = std::exchange(worker.last, status);
  Deliver(worker, status);
}

void Model::Hear(Worker& worker) {
  const auto orders = cluster_.OrdersFor(worker.name, now_);
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

void Model::Follow(Worker& worker, const JobOrders& orders) {
  const bool went_back =
      worker.seat.is_there && orders.restored != worker.seat.orders.restored;
  if (went_back) worker.seat = Seat();
  Seat& seat = worker.seat;
  seat.is_there = true;
  seat.orders = orders;
  SpanHolder own;
  for (const SpanHolder& holder : orders.holders) {
    if (holder.peer.worker == worker.name) own = holder;
  }
  const bool moved = own.span_begin != seat.begin || own.span_end != seat.end;
  if (seat.life != orders.life || (!seat.life.is_set() && moved)) {
    // A life that ended owes nothing.
    seat.ready.reset();
    seat.running.reset();
    seat.stored.reset();
    seat.used = data::RangeSet();
    seat.newest = skerry::Round();
    seat.life = orders.life;
  }
  if (moved) {
    seat.begin = own.span_begin;
    seat.end = own.span_end;
    seat.applied.reset();
    seat.anchors.clear();
    seat.pin = Sequence();
  }
  if (orders.phase > coordinator::JobPhase::kRunning) {
    seat.resting = true;
    seat.ready.reset();
    seat.running.reset();
  }
  if (orders.fragments.empty()) return;
  const coordinator::FragmentOrders& fragment = orders.fragments[0];
  for (const CommittedEntry& entry : fragment.committed) {
    seat.known.emplace(entry.sequence, entry);
  }
  if (fragment.outcome.has_value()) Settle(seat, *fragment.outcome);
  Forget(worker, fragment.keep_from);
}

void Model::Settle(Seat& seat, const coordinator::Outcome& outcome) {
  if (!seat.ready.has_value() || outcome.round != seat.ready->round ||
      outcome.kind == coordinator::Outcome::Kind::kPending) {
    return;
  }
  const bool committed = outcome.kind == coordinator::Outcome::Kind::kCommitted;
  const auto fate = fates_.find({seat.life.value(), outcome.round.value()});
  if (fate == fates_.end() || fate->second != committed) {
    Break("4.4: an outcome that is not the journal's");
  }
  seat.ready.reset();
}

// What the coordinator says may go (PROTOCOL 5.8).
void Model::Forget(Worker& worker, Sequence keep_from) {
  std::erase_if(worker.disk.bases, [&](const auto& base) {
    return base.first.first < keep_from.value();
  });
  std::erase_if(worker.disk.results, [&](const auto& result) {
    const auto [sequence, attempt, span] = result.first;
    const auto entry = worker.seat.known.find(Sequence(sequence));
    const bool lost = entry != worker.seat.known.end() &&
                      entry->second.attempt.value() != attempt;
    return sequence <= keep_from.value() || lost;
  });
}

const Model::Worker* Model::Find(const std::string& name) const {
  for (const Worker& worker : workers_) {
    if (worker.name == name) return &worker;
  }
  return nullptr;
}

// The base of one span at that sequence, from the own disk or a source.
std::optional<uint64_t> Model::BaseOf(const Worker& worker, Sequence sequence,
                                      uint32_t span) const {
  const std::pair key(sequence.value(), span);
  const auto own = worker.disk.bases.find(key);
  if (own != worker.disk.bases.end()) return own->second;
  for (const Source& source : worker.seat.orders.fragments[0].sources) {
    const uint32_t index = span - source.holder.span_begin;
    if (source.base != sequence || span < source.holder.span_begin ||
        span >= source.holder.span_end || index >= source.base_hashes.size()) {
      continue;
    }
    const Worker* holder = Find(source.holder.peer.worker);
    if (holder == nullptr || !holder->alive) continue;
    const auto there = holder->disk.bases.find(key);
    if (there != holder->disk.bases.end() &&
        there->second == source.base_hashes[index]) {
      return there->second;
    }
  }
  return std::nullopt;
}

// The newest base that is whole and still kept, or where everything begins.
bool Model::CanRecover(const Worker& worker, bool apply, Seat* into) const {
  const Seat& seat = worker.seat;
  if (seat.applied.has_value() || seat.begin == seat.end ||
      seat.life.is_set() || seat.orders.fragments.empty()) {
    return false;
  }
  const auto& fragment = seat.orders.fragments[0];
  const auto& restored = seat.orders.restored;
  Sequence floor = fragment.keep_from;
  if (restored.has_value()) floor = std::max(floor, restored->sequence);
  const auto take = [&](Sequence sequence, auto value_of) {
    std::map<uint32_t, uint64_t> anchors;
    for (uint32_t span = seat.begin; span < seat.end; ++span) {
      const std::optional<uint64_t> value = value_of(span);
      if (!value.has_value()) return false;
      anchors[span] = *value;
    }
    if (!apply) return true;
    into->applied = sequence;
    into->pin = sequence;
    into->anchors = std::move(anchors);
    return true;
  };
  for (uint64_t at = fragment.newest.value(); at > 0 && at >= floor.value();
       --at) {
    const Sequence sequence(at);
    if (take(sequence,
             [&](uint32_t span) { return BaseOf(worker, sequence, span); })) {
      return true;
    }
  }
  const auto initial = [](uint32_t span) -> std::optional<uint64_t> {
    return InitialAnchor(span);
  };
  if (restored.has_value() && fragment.keep_from <= restored->sequence) {
    if (!restored->checkpoint.is_set()) {
      return take(restored->sequence, initial);
    }
    const auto blob = blobs_.find(restored->checkpoint);
    return blob != blobs_.end() &&
           take(restored->sequence,
                [&](uint32_t span) -> std::optional<uint64_t> {
                  return blob->second.at(span);
                });
  }
  if (floor.is_set()) return false;
  return take(Sequence(), initial);
}

// The entry behind `applied`, once all that is needed of it is somewhere.
const CommittedEntry* Model::Foldable(const Worker& worker,
                                      Sequence applied) const {
  const Seat& seat = worker.seat;
  const auto entry = seat.known.find(Next(applied));
  if (entry == seat.known.end()) return nullptr;
  for (uint32_t span = seat.begin; span < seat.end; ++span) {
    const std::tuple key(entry->first.value(), entry->second.attempt.value(),
                         span);
    bool found = worker.disk.results.contains(key);
    for (const Worker& other : workers_) {
      found |= other.alive && other.disk.results.contains(key);
    }
    if (!found) return nullptr;
  }
  return &entry->second;
}

void Model::FoldOne(Worker& worker) {
  Seat& seat = worker.seat;
  const CommittedEntry* entry = Foldable(worker, *seat.applied);
  SKERRY_CHECK(entry != nullptr);
  const uint64_t sequence = entry->sequence.value();
  for (uint32_t span = seat.begin; span < seat.end; ++span) {
    const uint64_t result = entry->hashes.at(span);
    worker.disk.results[{sequence, entry->attempt.value(), span}] = result;
    seat.anchors[span] = FoldAnchor(seat.anchors[span], result);
    worker.disk.bases[{sequence, span}] = seat.anchors[span];
  }
  seat.applied = entry->sequence;
}

void Model::CheckAnchors(const Worker& worker) {
  const Seat& seat = worker.seat;
  const uint64_t applied = seat.applied->value();
  if (applied > 0 && applied >= anchors_.size()) {
    Break("A1: applied above committed");
    return;
  }
  for (const auto& [span, anchor] : seat.anchors) {
    const uint64_t expected =
        applied == 0 ? InitialAnchor(span) : anchors_[applied].at(span);
    if (anchor != expected) Break("A1: an anchor is not the fold");
  }
}

// By rank; empty while one of them is away or in another life.
std::vector<size_t> Model::ReplicaOf(size_t index) const {
  std::vector<size_t> members;
  const Seat& own = workers_[index].seat;
  for (const SpanHolder& holder : own.orders.holders) {
    const Worker* one = Find(holder.peer.worker);
    if (one == nullptr || !one->alive || one->seat.life != own.life) return {};
    members.push_back(static_cast<size_t>(one - workers_.data()));
  }
  return members;
}

// The boundary of PROTOCOL 4.2 of all workers of a replica, asked of its head.
bool Model::CanBegin(size_t index, std::vector<data::SampleRange>* ranges,
                     Sequence* cut) const {
  const Seat& head = workers_[index].seat;
  if (!head.life.is_set() || head.resting) return false;
  const std::vector<size_t> members = ReplicaOf(index);
  if (members.empty() || members[0] != index) return false;
  Sequence least(~uint64_t{0});
  Sequence most;
  Sequence first(~uint64_t{0});
  data::RangeSet fresh(head.orders.granted);
  for (const size_t i : members) {
    const Seat& seat = workers_[i].seat;
    if (!seat.applied.has_value() || seat.running.has_value() ||
        seat.ready.has_value() || seat.newest != head.newest) {
      return false;
    }
    Sequence reach = *seat.applied;
    while (Foldable(workers_[i], reach) != nullptr) reach = Next(reach);
    least = std::min(least, reach);
    most = std::max(most, *seat.applied);
    first = std::min(first, *seat.applied);
    fresh = fresh.Intersect(data::RangeSet(seat.orders.granted))
                .Subtract(seat.used);
  }
  if (least < most) return false;
  const data::RangeSet taken = fresh.TakeFirst(members.size());
  if (cut != nullptr) {
    *cut = least;
    ranges->assign(taken.ranges().begin(), taken.ranges().end());
  }
  return !taken.empty() || least > first;
}

void Model::Begin(size_t head) {
  std::vector<data::SampleRange> ranges;
  Sequence cut;
  SKERRY_CHECK(CanBegin(head, &ranges, &cut));
  for (const size_t i : ReplicaOf(head)) {
    Seat& seat = workers_[i].seat;
    while (*seat.applied < cut) FoldOne(workers_[i]);
    CheckAnchors(workers_[i]);
    // It has only caught up.
    if (ranges.empty()) continue;
    seat.newest = Next(seat.newest);
    seat.used = seat.used.Union(data::RangeSet(ranges));
    seat.running = Round{seat.newest, cut, ranges};
  }
}

void Model::Finish(Seat& seat) {
  coordinator::Contribution ready;
  ready.round = seat.running->number;
  ready.base = seat.running->base;
  ready.ranges = seat.running->ranges;
  ready.weight = static_cast<double>(data::RangeSet(ready.ranges).total());
  seat.ready = std::move(ready);
  seat.running.reset();
}

// Null unless the open attempt names what the worker owes.
const Member* Model::OpenMember(const Worker& worker) const {
  const Seat& seat = worker.seat;
  if (!seat.ready.has_value() || seat.orders.fragments.empty() ||
      !seat.orders.fragments[0].open.has_value()) {
    return nullptr;
  }
  for (const Member& member : seat.orders.fragments[0].open->members) {
    if (member.life == seat.life &&
        member.contribution.round == seat.ready->round) {
      return &member;
    }
  }
  return nullptr;
}

bool Model::CanStore(const Worker& worker) const {
  if (OpenMember(worker) == nullptr) return false;
  const Seat& seat = worker.seat;
  const coordinator::OpenExchange& open = *seat.orders.fragments[0].open;
  if (seat.stored.has_value() && seat.stored->attempt == open.attempt) {
    return false;
  }
  for (const Member& member : open.members) {
    for (const SpanHolder& holder : member.holders) {
      const Worker* one = Find(holder.peer.worker);
      const auto index = static_cast<size_t>(one - workers_.data());
      if (holder.span_begin < seat.end && seat.begin < holder.span_end &&
          !frames_.contains({open.attempt.value(), index})) {
        return false;
      }
    }
  }
  return true;
}

void Model::Store(Worker& worker, bool lies) {
  Seat& seat = worker.seat;
  const coordinator::OpenExchange& open = *seat.orders.fragments[0].open;
  coordinator::StoredResult stored{open.sequence, open.attempt, {}, 1.0};
  for (uint32_t span = seat.begin; span < seat.end; ++span) {
    const uint64_t hash = ResultHash(open.attempt, open.members, span);
    stored.hashes.push_back(lies ? hash + 1 : hash);
    if (lies) continue;
    worker.disk.results[{open.sequence.value(), open.attempt.value(), span}] =
        hash;
  }
  seat.stored = std::move(stored);
}

// All of it or nothing; what is on nobody's disk any more cannot be saved.
void Model::Save(Worker& worker) {
  Seat& seat = worker.seat;
  const coordinator::CheckpointOrder& order = *seat.orders.checkpoint;
  coordinator::CheckpointFact fact;
  fact.sequence = order.sequence;
  std::vector<uint64_t> state;
  for (uint32_t span = 0; span < order.pieces.size(); ++span) {
    for (const std::string& address : order.pieces[span].addresses) {
      const Worker* holder = Find(address);
      if (holder == nullptr || !holder->alive) continue;
      const auto base = holder->disk.bases.find({order.sequence.value(), span});
      if (base == holder->disk.bases.end() ||
          base->second != order.pieces[span].hash) {
        continue;
      }
      state.push_back(base->second);
      break;
    }
  }
  if (state.size() == scenario_.spans) {
    if (state != anchors_.at(order.sequence.value())) {
      Break("a state is saved that is no state of the history");
    }
    blobs_[order.sequence] = state;
    fact.sha256 = std::string(64, 'b');
    fact.bytes = 1;
  } else {
    fact.error = "nobody has all of it";
  }
  seat.saved = std::move(fact);
}

}  // namespace skerry::exhaustive
