#include "coordinator/core/rules/restore.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/rules/checkpoints.h"
#include "coordinator/core/rules/holdings.h"
#include "coordinator/core/rules/state_view.h"

namespace skerry::coordinator {
namespace {

using protocol::RestoredState;

// So many waits has a worker to read or fetch one base, or to fold one result:
// it says nothing meanwhile.
constexpr int64_t kWaitsOnTheWay = 30;

// All workers with a place have looked at what they have.
bool AllRecovering(const JobState& job) {
  if (job.places.empty()) return false;
  for (const auto& [island, place] : job.places) {
    for (size_t rank = 0; rank < place.workers.size(); ++rank) {
      const Seat* seat =
          job.SeatOf(place.workers[rank], place.incarnations[rank]);
      if (seat == nullptr ||
          seat->facts.state != protocol::SeatState::kRecovering) {
        return false;
      }
    }
  }
  return true;
}

// Whether some worker that is there has a base of every one of the spans.
bool HasBases(const JobState& job, const WorkerTable& workers,
              const RoundMachine& machine, const SpanHolder& spans) {
  std::vector<bool> held(spans.span_end - spans.span_begin, false);
  for (const auto& [name, seat] : job.seats) {
    if (!workers.IsCurrent(name, seat.incarnation)) continue;
    for (const FragmentFacts& facts : seat.facts.fragments) {
      if (facts.fragment != machine.fragment()) continue;
      for (const protocol::HeldBase& base : facts.bases) {
        if (!base.sequence.is_set() || base.sequence < machine.floor()) {
          continue;
        }
        for (uint32_t i = 0; i < base.hashes.size(); ++i) {
          const uint32_t index = base.span_begin + i - spans.span_begin;
          if (index < held.size()) held[index] = true;
        }
      }
    }
  }
  return std::find(held.begin(), held.end(), false) == held.end();
}

// Whether the worker still reads or fetches what will be its state, or folds
// what it has on its disk.
bool IsOnItsWay(const JobState& job, const WorkerTable& workers,
                const SpanHolder& spans, const Seat& seat) {
  for (const FragmentFacts& facts : seat.facts.fragments) {
    if (facts.span_begin != spans.span_begin) return false;
    if (!facts.anchor_hashes.empty() ||
        facts.fragment.value() >= job.fragments.size()) {
      continue;
    }
    const RoundMachine& machine = job.fragments[facts.fragment.value()];
    if (facts.applied.is_set() ? Next(facts.stored_through) >= machine.newest()
                               : HasBases(job, workers, machine, spans)) {
      return true;
    }
  }
  return false;
}

bool AnyOnItsWay(const JobState& job, const WorkerTable& workers) {
  for (const auto& [island, place] : job.places) {
    for (size_t rank = 0; rank < place.holders.size(); ++rank) {
      const Seat* seat =
          job.SeatOf(place.workers[rank], place.incarnations[rank]);
      if (seat != nullptr &&
          IsOnItsWay(job, workers, place.holders[rank], *seat)) {
        return true;
      }
    }
  }
  return false;
}

// Whether every worker in a life has said what it has of the fragment, and no
// replica has every result.
bool NoneIsWhole(const JobState& job, const RoundMachine& machine) {
  for (const auto& [life, replica] : job.replicas.current()) {
    bool whole = true;
    for (size_t rank = 0; rank < replica.holders.size(); ++rank) {
      const FragmentFacts* facts =
          FactsInLife(job, replica, rank, machine.fragment());
      if (facts == nullptr) return false;
      whole = whole && facts->stored_through >= machine.newest();
    }
    if (whole) return false;
  }
  return true;
}

// What is lost, in words; empty when nothing is, or that is not known yet.
std::string Lost(const JobState& job, const WorkerTable& workers) {
  // Nothing would be won by going back to the same state again.
  const bool moved = job.State() > WentBackAt(job);
  if (!moved) return "";
  if (job.replicas.current().empty()) {
    return AllRecovering(job) ? LostText(job, workers) : "";
  }
  for (const RoundMachine& machine : job.fragments) {
    if (machine.open().has_value() || !NoneIsWhole(job, machine)) continue;
    std::string lost = LostTextOf(job, workers, machine.fragment());
    if (!lost.empty()) return lost;
  }
  return "";
}

uint64_t HashOfFacts(const JobState& job) {
  StateHasher hasher;
  hasher.Add(job.State());
  for (const auto& [name, seat] : job.seats) {
    hasher.Add(std::string_view(name));
    hasher.Add(seat.incarnation);
    for (const FragmentFacts& facts : seat.facts.fragments) {
      hasher.Add(facts.applied);
      hasher.Add(facts.stored_through);
      hasher.Add(facts.pin);
      hasher.Add(uint64_t{facts.bases.size()});
      hasher.Add(uint64_t{facts.anchor_hashes.size()});
    }
  }
  return hasher.value();
}

// A newer state than the one that the job has begun with.
bool IsAnyLeft(const JobState& job, const WorkerTable& workers) {
  const absl::StatusOr<StateView> state = LocateState(job, workers);
  return state.ok() && state->sequence > WentBackAt(job);
}

std::string WhatIsLost(const JobState& job, const Checkpointed& from) {
  const uint64_t samples =
      job.ledger.consumed().total() - from.consumed.total();
  if (samples == 0) return "nothing is lost";
  return absl::StrCat(
      samples, " samples of ",
      from.sequence.is_set()
          ? absl::StrCat("the exchanges after ", from.sequence.value())
          : "all exchanges so far",
      " are lost and are trained on again");
}

}  // namespace

void DecideRestore(JobState& job, const Decider& decider) {
  if (job.Ended()) return;
  const std::string lost = Lost(job, decider.workers);
  if (lost.empty()) {
    job.lost_spans.reset();
    return;
  }
  const uint64_t facts = HashOfFacts(job);
  if (!job.lost_spans.has_value() || job.lost_spans->facts != facts) {
    const bool all_asked =
        job.lost_spans.has_value() && job.lost_spans->all_asked;
    job.lost_spans = LostSpans{decider.now, facts, false, all_asked};
  }
  const absl::Duration waited = decider.now - job.lost_spans->since;
  if (waited < decider.options.restore_wait) return;
  // A worker that is on its way may lack what only one without a place has.
  job.lost_spans->all_asked = true;
  const int64_t waits = AnyOnItsWay(job, decider.workers) ? kWaitsOnTheWay : 1;
  if (waited < waits * decider.options.restore_wait) return;
  if (!job.spec.checkpoint.has_value()) return;
  const std::string why = absl::StrCat("no worker that is there has ", lost);
  if (!job.replicas.current().empty()) return EndLives(job, decider, why);
  if (!std::exchange(job.lost_spans->given_up, true)) {
    DecideCheckpoints(job, decider);
  }
  if (job.saving.has_value()) return;
  // It is tried until it is saved: there is nothing else.
  if (job.checkpoints.empty() && IsAnyLeft(job, decider.workers)) return;
  GoBack(job, decider, why);
}

void GoBack(JobState& job, const Decider& decider, const std::string& why,
            uint64_t initial_hash) {
  const Checkpointed from =
      job.checkpoints.empty() ? job.Beginning() : job.checkpoints.back();
  Restored back{job.id, Sequence(job.State().value() + job.fragments.size()),
                from.sequence, absl::StrCat(why, "; ", WhatIsLost(job, from))};
  back.initial_hash = initial_hash;
  decider.emit(std::move(back));
  for (RoundTimers& timers : job.timers) timers.OnClosed();
  job.lost_spans.reset();
  for (JobState::Anchors& anchors : job.anchors) anchors.clear();
  // The job is no longer at its end. Once it is there again, the waits start
  // anew.
  job.final_since.reset();
  job.final_alone_since.reset();
  job.places_stale = true;
}

void CollectRestore(const JobState& job, const ClusterOptions& options,
                    Earliest& earliest) {
  if (job.lost_spans.has_value()) {
    earliest.Consider(job.lost_spans->since + options.restore_wait);
    earliest.Consider(job.lost_spans->since +
                      kWaitsOnTheWay * options.restore_wait);
  }
}

std::optional<RestoredState> RestoredStateOf(const JobState& job) {
  if (!job.restored.has_value()) return std::nullopt;
  Checkpointed from = job.Beginning();
  if (job.restored->checkpoint.is_set()) {
    const Checkpointed* saved = job.FindCheckpoint(job.restored->checkpoint);
    if (saved == nullptr) return std::nullopt;
    from = *saved;
  }
  RestoredState state{job.restored->sequence, from.sequence, from.sha256,
                      from.consumed.total()};
  if (job.fragments.size() == 1) return state;
  state.fragment_sequences = job.restored->fragment_sequences;
  return state;
}

}  // namespace skerry::coordinator
