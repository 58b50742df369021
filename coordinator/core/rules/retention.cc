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

// What one worker can serve of its held spans.
Source Offered(const SpanHolder& holder, const FragmentFacts& facts,
               bool with_base) {
  Source source;
  source.holder = holder;
  source.results_from = facts.first_result_kept;
  source.results_through = std::max(facts.stored_through, facts.applied);
  const HeldBase* newest = nullptr;
  for (const HeldBase& base : facts.bases) {
    if (base.span_begin > holder.span_begin ||
        base.span_begin + base.hashes.size() < holder.span_end) {
      continue;
    }
    if (newest == nullptr || base.sequence > newest->sequence) newest = &base;
  }
  if (newest == nullptr) return source;
  source.base = newest->sequence;
  if (with_base) {
    const auto first =
        newest->hashes.begin() + (holder.span_begin - newest->span_begin);
    source.base_hashes.assign(first,
                              first + (holder.span_end - holder.span_begin));
  }
  return source;
}

// What its disk has beside that: spans move between the workers of an island.
void OfferBeside(const SpanHolder& held, const FragmentFacts& facts,
                 uint32_t begin, uint32_t end, bool with_base,
                 std::vector<Source>& sources) {
  for (const HeldBase& base : facts.bases) {
    SpanHolder holder = held;
    holder.span_begin = base.span_begin;
    holder.span_end =
        base.span_begin + static_cast<uint32_t>(base.hashes.size());
    const bool inside = holder.span_begin >= held.span_begin &&
                        holder.span_end <= held.span_end;
    if (inside || holder.span_begin >= end || holder.span_end <= begin) {
      continue;
    }
    Source source;
    source.holder = std::move(holder);
    source.base = base.sequence;
    if (with_base) source.base_hashes = base.hashes;
    sources.push_back(std::move(source));
  }
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

std::vector<Source> SourcesFor(const JobState& job, const WorkerTable& workers,
                               const ClusterOptions& options,
                               std::string_view worker, FragmentId fragment,
                               uint32_t begin, uint32_t end, bool with_base) {
  std::vector<Source> sources;
  for (const auto& [name, seat] : job.seats) {
    const Worker* holder = workers.FindCurrent(name);
    if (name == worker || holder == nullptr || holder->suspected ||
        holder->incarnation != seat.incarnation) {
      continue;
    }
    const FragmentFacts* facts = FragmentOf(seat.facts, fragment);
    if (facts == nullptr) continue;
    const uint64_t held_end = HeldEnd(job, name, *facts);
    if (held_end > job.span_count) continue;
    const SpanHolder held{facts->span_begin, static_cast<uint32_t>(held_end),
                          holder->self, 0};
    if (held.span_begin < std::min(end, held.span_end) &&
        held.span_end > begin) {
      sources.push_back(Offered(held, *facts, with_base));
    }
    OfferBeside(held, *facts, begin, end, with_base, sources);
  }
  std::stable_sort(sources.begin(), sources.end(),
                   [](const Source& a, const Source& b) {
                     if (a.base != b.base) return a.base > b.base;
                     return a.results_through > b.results_through;
                   });
  if (sources.size() > options.sources_max) {
    sources.resize(options.sources_max);
  }
  return sources;
}

}  // namespace skerry::coordinator
