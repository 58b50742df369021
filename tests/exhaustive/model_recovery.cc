// How a worker of the model comes to a state (PROTOCOL 6), and that this stays
// possible (PROTOCOL 5.8).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tests/exhaustive/hashes.h"
#include "tests/exhaustive/model.h"

namespace skerry::exhaustive {

using protocol::CommittedEntry;
using protocol::Source;

// A base of one span, from the own disk or a source.
std::optional<uint64_t> Model::BaseAt(const WorkerState& worker,
                                      uint32_t fragment, Sequence sequence,
                                      uint32_t span) const {
  const std::tuple key(fragment, sequence.value(), span);
  const auto own = worker.disk.bases.find(key);
  if (own != worker.disk.bases.end()) return own->second;
  for (const Source& source : worker.seat.orders.fragments[fragment].sources) {
    const uint32_t index = span - source.holder.span_begin;
    if (source.base != sequence || span < source.holder.span_begin ||
        span >= source.holder.span_end || index >= source.base_hashes.size()) {
      continue;
    }
    const WorkerState* holder = Find(source.holder.peer.worker);
    if (holder == nullptr || !holder->alive) continue;
    const auto there = holder->disk.bases.find(key);
    if (there != holder->disk.bases.end() &&
        there->second == source.base_hashes[index]) {
      return there->second;
    }
  }
  return std::nullopt;
}

// The newest base of the span that is still kept, or where everything begins.
std::optional<SpanState> Model::BaseFor(const WorkerState& worker,
                                        uint32_t fragment,
                                        uint32_t span) const {
  const auto& orders = worker.seat.orders.fragments[fragment];
  const auto& restored = worker.seat.orders.restored;
  Sequence begins_at;
  if (restored.has_value()) {
    begins_at = restored->fragment_sequences.empty()
                    ? restored->sequence
                    : restored->fragment_sequences[fragment];
  }
  const Sequence floor = std::max(orders.keep_from, begins_at);
  for (Sequence at = orders.newest; at.is_set() && at >= floor;
       at = Sequence(at.value() - 1)) {
    if (const auto anchor = BaseAt(worker, fragment, at, span)) {
      return SpanState{at, *anchor};
    }
  }
  if (orders.keep_from > begins_at) return std::nullopt;
  if (!restored.has_value() || !restored->checkpoint.is_set()) {
    const uint64_t own = InitialHash(worker);
    if (own == worker.seat.orders.initial_hash) {
      return SpanState{begins_at, InitialAnchor(own, fragment, span)};
    }
    const auto base = BaseAt(worker, fragment, begins_at, span);
    if (!base.has_value()) return std::nullopt;
    return SpanState{begins_at, *base};
  }
  const auto blob = history_.saved().find(restored->checkpoint);
  if (blob == history_.saved().end()) return std::nullopt;
  return SpanState{begins_at, blob->second.anchors[fragment][span]};
}

// Also one that is newer, when what follows on a state is nowhere any more.
bool Model::CanRecover(const WorkerState& worker, uint32_t fragment,
                       uint32_t span) const {
  const Seat& seat = worker.seat;
  if (seat.begin == seat.end || seat.life.is_set() ||
      fragment >= seat.orders.fragments.size()) {
    return false;
  }
  const Part& part = seat.parts[fragment];
  const auto held = part.spans.find(span);
  if (held == part.spans.end()) {
    return BaseFor(worker, fragment, span).has_value();
  }
  const auto base = BaseFor(worker, fragment, span);
  return IsAtGap(worker, fragment) && base.has_value() &&
         base->applied > held->second.applied;
}

// Nobody has what it would have to fold next, and newer bases are offered.
bool Model::IsAtGap(const WorkerState& worker, uint32_t fragment) const {
  const Part& part = worker.seat.parts[fragment];
  const auto applied = worker.seat.Applied(fragment);
  if (!applied.has_value() || !part.known.contains(Next(*applied)) ||
      Foldable(worker, fragment, *applied) != nullptr) {
    return false;
  }
  const auto& orders = worker.seat.orders.fragments[fragment];
  return orders.keep_from > *applied ||
         std::any_of(
             orders.sources.begin(), orders.sources.end(),
             [&](const Source& source) { return source.base > *applied; });
}

void Model::Recover(WorkerState& worker, uint32_t fragment, uint32_t span) {
  Seat& seat = worker.seat;
  const uint32_t begin = scenario_.by_span ? span : seat.begin;
  const uint32_t end = scenario_.by_span ? span + 1 : seat.end;
  for (uint32_t one = begin; one < end; ++one) {
    if (!CanRecover(worker, fragment, one)) continue;
    const SpanState state = *BaseFor(worker, fragment, one);
    seat.parts[fragment].spans[one] = state;
    // It may need more than it has said.
    seat.parts[fragment].pin_told = false;
    // Initial values are no file where every trainer has them.
    if (state.applied.is_set() || scenario_.program) {
      worker.disk.bases[{fragment, state.applied.value(), one}] = state.anchor;
    }
  }
}

const CommittedEntry* Model::Foldable(const WorkerState& worker,
                                      uint32_t fragment,
                                      Sequence applied) const {
  const Seat& seat = worker.seat;
  const auto& known = seat.parts[fragment].known;
  const auto entry = known.find(Next(applied));
  if (entry == known.end() || !entry->second.attempt.is_set()) return nullptr;
  for (uint32_t span = seat.begin; span < seat.end; ++span) {
    const std::tuple key(fragment, entry->first.value(),
                         entry->second.attempt.value(), span);
    const bool found = std::any_of(
        workers_.begin(), workers_.end(), [&](const WorkerState& other) {
          if (!other.alive) return false;
          const auto result = other.disk.results.find(key);
          return result != other.disk.results.end() &&
                 result->second == entry->second.hashes[span];
        });
    if (!found) return nullptr;
  }
  return &entry->second;
}

// Folds one committed result, into those spans that are furthest behind.
void Model::FoldOne(WorkerState& worker, uint32_t fragment) {
  Part& part = worker.seat.parts[fragment];
  const CommittedEntry* entry = Foldable(worker, fragment, *part.Oldest());
  SKERRY_CHECK(entry != nullptr);
  const uint64_t sequence = entry->sequence.value();
  for (auto& [span, state] : part.spans) {
    const uint64_t result = entry->hashes.at(span);
    worker.disk.results[{fragment, sequence, entry->attempt.value(), span}] =
        result;
    if (Next(state.applied) != entry->sequence) continue;
    state = {entry->sequence, FoldAnchor(state.anchor, result)};
  }
  if (sequence % scenario_.base_every == 0) StoreBase(worker, fragment);
}

void Model::StoreBase(WorkerState& worker, uint32_t fragment) {
  const Part& part = worker.seat.parts[fragment];
  if (!part.IsLevel()) return;
  for (const auto& [span, state] : part.spans) {
    if (!state.applied.is_set()) continue;
    worker.disk.bases[{fragment, state.applied.value(), span}] = state.anchor;
  }
}

void Model::Check() const {
  for (const WorkerState& worker : workers_) CheckAnchors(worker);
  if (scenario_.budget.disk_losses > 0) return;
  for (uint32_t f = 0; f < scenario_.fragments; ++f) {
    for (uint32_t span = 0; span < scenario_.spans; ++span) {
      CheckKept(f, span);
    }
    for (const WorkerState& worker : workers_) CheckPin(worker, f);
  }
}

void Model::CheckAnchors(const WorkerState& worker) const {
  for (uint32_t f = 0; f < worker.seat.parts.size(); ++f) {
    for (const auto& [span, state] : worker.seat.parts[f].spans) {
      if (state.applied > history_.Newest(f)) {
        Break("A1: applied above committed");
      } else if (state.anchor != history_.AnchorAt(f, state.applied, span)) {
        Break("A1: an anchor is not the fold");
      }
    }
  }
}

bool Model::IsOnSomeDisk(uint32_t fragment, Sequence sequence,
                         uint32_t span) const {
  const coordinator::Committed& commit = history_.CommitOf(fragment, sequence);
  const std::tuple key(fragment, sequence.value(), commit.attempt.value(),
                       span);
  return std::any_of(workers_.begin(), workers_.end(),
                     [&](const WorkerState& worker) {
                       const auto result = worker.disk.results.find(key);
                       return result != worker.disk.results.end() &&
                              result->second == commit.hashes.at(span);
                     });
}

// A6: some base, and every result after it.
void Model::CheckKept(uint32_t fragment, uint32_t span) const {
  for (Sequence at = history_.Newest(fragment);;
       at = Sequence(at.value() - 1)) {
    if (at == history_.FloorOf(fragment)) return;
    for (const WorkerState& worker : workers_) {
      if (worker.disk.bases.contains({fragment, at.value(), span})) return;
    }
    if (!IsOnSomeDisk(fragment, at, span)) {
      return Break(absl::StrCat("A6: the result of ", at.value(),
                                " is on no disk, and no newer base"));
    }
  }
}

// PROTOCOL 5.8: what a worker needs that the coordinator knows of is kept.
void Model::CheckPin(const WorkerState& worker, uint32_t fragment) const {
  const Seat& seat = worker.seat;
  if (!worker.alive || seat.parts.empty() || !seat.parts[fragment].pin_told) {
    return;
  }
  if (const auto lacking = Lacking(worker, fragment)) {
    Break(absl::StrCat("5.8: the result of ", lacking->value(),
                       " is on no disk, and ", worker.name, " needs it"));
  }
}

std::optional<Sequence> Model::Lacking(const WorkerState& worker,
                                       uint32_t fragment) const {
  const Sequence newest = history_.Newest(fragment);
  for (const auto& [span, state] : worker.seat.parts[fragment].spans) {
    // Before the floor nothing is of use, state 0 is no pin, and pins lapse.
    if (!state.applied.is_set() || state.applied < history_.FloorOf(fragment) ||
        state.applied.value() + scenario_.pin_max < newest.value()) {
      continue;
    }
    for (Sequence at = Next(state.applied); at <= newest; at = Next(at)) {
      if (!IsOnSomeDisk(fragment, at, span)) return at;
    }
  }
  return std::nullopt;
}

}  // namespace skerry::exhaustive
