#include "coordinator/core/rules/retention.h"

#include <algorithm>
#include <optional>

#include "absl/container/btree_set.h"

namespace skerry::coordinator {
namespace {

using protocol::HeldBase;
using protocol::SeatState;
using protocol::Source;

const FragmentFacts* FragmentOf(const JobFacts& facts, FragmentId fragment) {
  for (const FragmentFacts& f : facts.fragments) {
    if (f.fragment == fragment) return &f;
  }
  return nullptr;
}

// Sequences, ascending, at which the worker holds a base of all of `holder`'s
// spans.
std::vector<Sequence> WholeBases(const FragmentFacts& facts,
                                 const SpanHolder& holder) {
  std::vector<Sequence> whole;
  // Where several make up one.
  absl::btree_map<Sequence, absl::btree_set<uint32_t>> spans;
  for (const HeldBase& base : facts.bases) {
    if (base.span_begin <= holder.span_begin &&
        base.span_begin + base.hashes.size() >= holder.span_end) {
      whole.push_back(base.sequence);
      continue;
    }
    for (size_t i = 0; i < base.hashes.size(); ++i) {
      const uint64_t span = base.span_begin + i;
      if (span >= holder.span_begin && span < holder.span_end) {
        spans[base.sequence].insert(static_cast<uint32_t>(span));
      }
    }
  }
  for (const auto& [sequence, held] : spans) {
    if (held.size() == holder.span_end - holder.span_begin) {
      whole.push_back(sequence);
    }
  }
  std::sort(whole.begin(), whole.end());
  return whole;
}

// The end of the spans that the worker holds. While it folds a result it tells
// no hashes of its anchor. It has its results all the same: a life that lacks
// one would end if nobody offered it.
uint64_t HeldEnd(const JobState& job, std::string_view worker,
                 const FragmentFacts& facts) {
  const uint64_t told = facts.span_begin + facts.anchor_hashes.size();
  if (told > facts.span_begin) return told;
  const Replica* replica = job.replicas.FindWorker(worker);
  if (replica == nullptr) return told;
  for (const SpanHolder& holder : replica->holders) {
    if (holder.peer.worker == worker && holder.span_begin == facts.span_begin) {
      return holder.span_end;
    }
  }
  return told;
}

// The newest base that the worker has of all its held spans; null when none.
const HeldBase* NewestBase(const SpanHolder& holder,
                           const FragmentFacts& facts) {
  const HeldBase* newest = nullptr;
  for (const HeldBase& base : facts.bases) {
    if (base.span_begin > holder.span_begin ||
        base.span_begin + base.hashes.size() < holder.span_end) {
      continue;
    }
    if (newest == nullptr || base.sequence > newest->sequence) newest = &base;
  }
  return newest;
}

// What the seat still needs: its pin or, until it has chosen a base among
// those that it was offered, all that was kept when it came. A worker that has
// restarted and not reported yet may come back to what it has on disk.
std::optional<Sequence> NeedOf(const Seat& seat, const Worker& worker,
                               FragmentId fragment, Sequence kept) {
  if (worker.incarnation != seat.incarnation) return kept;
  // It may not be well for hours, and can then take a newer base.
  if (!seat.unfit.empty()) return std::nullopt;
  const FragmentFacts* facts = FragmentOf(seat.facts, fragment);
  if (facts != nullptr && facts->pin.is_set()) return facts->pin;
  const SeatState state = seat.facts.state;
  if (state == SeatState::kStarting || state == SeatState::kRecovering) {
    return kept;
  }
  return std::nullopt;
}

// Whether some worker with a place has not said what it needs: it has just come
// and is choosing a base, or the coordinator has started anew.
bool IsAnyUnheard(const JobState& job) {
  for (const auto& [island, place] : job.places) {
    for (size_t rank = 0; rank < place.workers.size(); ++rank) {
      if (!job.seats.contains(place.workers[rank])) return true;
    }
  }
  return false;
}

}  // namespace

Sequence KeepFrom(const JobState& job, const WorkerTable& workers,
                  const ClusterOptions& options, FragmentId fragment) {
  const RoundMachine& machine = job.fragments[fragment.value()];
  std::optional<std::vector<Sequence>> common;
  for (const auto& [life, replica] : job.replicas.current()) {
    for (size_t rank = 0; rank < replica.holders.size(); ++rank) {
      const FragmentFacts* facts = FactsInLife(job, replica, rank, fragment);
      if (facts == nullptr) return machine.floor();
      std::vector<Sequence> held = WholeBases(*facts, replica.holders[rank]);
      if (!common.has_value()) {
        common = std::move(held);
        continue;
      }
      std::erase_if(*common, [&held](Sequence sequence) {
        return !std::binary_search(held.begin(), held.end(), sequence);
      });
    }
  }
  // Older bases are of no use to anybody.
  const Sequence floor = machine.floor();
  if (!common.has_value() || common->empty()) return floor;
  Sequence keep = common->back();
  if (job.saving.has_value()) {
    const protocol::CheckpointOrder& order = job.saving->order;
    keep = std::min(keep, order.fragment_sequences.empty()
                              ? order.sequence
                              : order.fragment_sequences[fragment.value()]);
  }
  const uint64_t newest = machine.newest().value();
  const Sequence kept = job.keep_from[fragment.value()];
  const auto keep_for = [&](Sequence need) {
    if (need.value() + options.pin_sequences_max < newest) return;
    keep = std::min(keep, need);
  };
  for (const auto& [name, seat] : job.seats) {
    const Worker* worker = workers.FindCurrent(name);
    if (worker == nullptr) continue;
    if (const auto need = NeedOf(seat, *worker, fragment, kept)) {
      keep_for(*need);
    }
  }
  if (IsAnyUnheard(job)) keep_for(kept);
  return std::max(keep, floor);
}

Servers::Servers(const JobState& job, const WorkerTable& workers,
                 FragmentId fragment) {
  for (const auto& [name, seat] : job.seats) {
    const Worker* worker = workers.FindCurrent(name);
    if (worker == nullptr || worker->suspected ||
        worker->incarnation != seat.incarnation) {
      continue;
    }
    const FragmentFacts* facts = FragmentOf(seat.facts, fragment);
    if (facts == nullptr) continue;
    const uint64_t end = HeldEnd(job, name, *facts);
    if (end > job.span_count) continue;
    const SpanHolder holder{facts->span_begin, static_cast<uint32_t>(end),
                            worker->self, 0};
    const HeldBase* newest = NewestBase(holder, *facts);
    Source held;
    held.holder = holder;
    held.results_from = facts->first_result_kept;
    held.results_through = std::max(facts->stored_through, facts->applied);
    if (newest != nullptr) {
      held.base = newest->sequence;
      held.base_attempt = newest->attempt;
    }
    offers_.push_back({std::move(held), newest});
    // What its disk has beside that: spans move between the workers of an
    // island.
    for (const HeldBase& base : facts->bases) {
      const uint32_t base_end =
          base.span_begin + static_cast<uint32_t>(base.hashes.size());
      if (base.span_begin >= holder.span_begin && base_end <= holder.span_end) {
        continue;
      }
      Source beside;
      beside.holder = {base.span_begin, base_end, worker->self, 0};
      beside.base = base.sequence;
      beside.base_attempt = base.attempt;
      offers_.push_back({std::move(beside), &base});
    }
  }
  std::stable_sort(offers_.begin(), offers_.end(),
                   [](const Offer& a, const Offer& b) {
                     if (a.source.base != b.source.base) {
                       return a.source.base > b.source.base;
                     }
                     return a.source.results_through > b.source.results_through;
                   });
}

std::vector<Source> Servers::For(std::string_view worker, uint32_t begin,
                                 uint32_t end, bool with_base,
                                 size_t most) const {
  std::vector<Source> sources;
  for (const Offer& offer : offers_) {
    if (sources.size() == most) break;
    const SpanHolder& spans = offer.source.holder;
    if (spans.span_begin >= std::min(end, spans.span_end) ||
        spans.span_end <= begin || spans.peer.worker == worker) {
      continue;
    }
    Source source = offer.source;
    if (with_base && offer.base != nullptr) {
      const auto first = offer.base->hashes.begin() +
                         (spans.span_begin - offer.base->span_begin);
      source.base_hashes.assign(first,
                                first + (spans.span_end - spans.span_begin));
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace skerry::coordinator
