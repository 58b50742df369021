#include "coordinator/core/state_view.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"

namespace skerry::coordinator {
namespace {

// What is known of one sequence.
struct Gathered {
  std::vector<StatePiece> pieces;
  bool disagree = false;
};

void Gather(const HeldBase& base, const std::string& address,
            Gathered& gathered) {
  for (size_t i = 0; i < base.hashes.size(); ++i) {
    const size_t span = base.span_begin + i;
    if (span >= gathered.pieces.size()) return;
    StatePiece& piece = gathered.pieces[span];
    if (!piece.addresses.empty() && piece.hash != base.hashes[i]) {
      gathered.disagree = true;
    }
    piece.hash = base.hashes[i];
    piece.addresses.push_back(address);
  }
}

bool IsWhole(const Gathered& gathered) {
  for (const StatePiece& piece : gathered.pieces) {
    if (piece.addresses.empty()) return false;
  }
  return !gathered.disagree && !gathered.pieces.empty();
}

absl::btree_map<Sequence, Gathered> GatherAll(const JobState& job,
                                              const WorkerTable& workers) {
  absl::btree_map<Sequence, Gathered> all;
  for (const auto& [name, seat] : job.seats) {
    const Worker* worker = workers.FindCurrent(name);
    if (worker == nullptr || worker->suspected ||
        worker->incarnation != seat.incarnation) {
      continue;
    }
    for (const FragmentFacts& facts : seat.facts.fragments) {
      if (facts.fragment != FragmentId(0)) continue;
      for (const HeldBase& base : facts.bases) {
        Gathered& gathered = all[base.sequence];
        gathered.pieces.resize(job.span_count);
        Gather(base, worker->self.address, gathered);
      }
    }
  }
  return all;
}

uint64_t SamplesAt(const JobState& job, uint64_t sequence) {
  return sequence == 0
             ? ConsumedBefore(job.spec).total()
             : job.fragments[0].history()[sequence - 1].samples_committed;
}

}  // namespace

std::optional<data::RangeSet> ConsumedAt(const JobState& job,
                                         uint64_t sequence) {
  data::RangeSet consumed = job.ledger.consumed();
  for (uint64_t later = sequence + 1;
       later <= job.fragments[0].history().size(); ++later) {
    const auto it = job.taken.find(Sequence(later));
    if (it == job.taken.end()) return std::nullopt;
    consumed = consumed.Subtract(it->second);
  }
  return consumed;
}

absl::StatusOr<StateView> LocateState(const JobState& job,
                                      const WorkerTable& workers) {
  absl::btree_map<Sequence, Gathered> all = GatherAll(job, workers);
  const std::vector<CommittedEntry>& history = job.fragments[0].history();
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    const uint64_t sequence = it->first.value();
    if (it->first < job.Floor()) break;
    if (sequence > history.size() || !IsWhole(it->second)) continue;
    StateView view;
    view.id = job.id;
    view.spec = job.spec;
    view.sequence = it->first;
    view.samples_committed = SamplesAt(job, sequence);
    if (const auto consumed = ConsumedAt(job, sequence)) {
      view.consumed.assign(consumed->ranges().begin(),
                           consumed->ranges().end());
    }
    view.element_count = job.element_count;
    view.pieces = std::move(it->second.pieces);
    return view;
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "no sequence of job ", job.spec.name,
      " has all its spans on workers that are there; try again when the job "
      "has workers"));
}

}  // namespace skerry::coordinator
