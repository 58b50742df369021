#include "coordinator/core/rules/state_view.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "coordinator/core/rules/worker_directory.h"

namespace skerry::coordinator {
namespace {

using protocol::HeldBase;

// What is known of one sequence.
struct Gathered {
  std::vector<StatePiece> pieces;
  bool disagree = false;
};

void Gather(const HeldBase& base, const std::string& worker,
            Gathered& gathered) {
  for (size_t i = 0; i < base.hashes.size(); ++i) {
    const size_t span = base.span_begin + i;
    if (span >= gathered.pieces.size()) return;
    StatePiece& piece = gathered.pieces[span];
    if (!piece.workers.empty() && piece.hash != base.hashes[i]) {
      gathered.disagree = true;
    }
    piece.hash = base.hashes[i];
    piece.workers.push_back(worker);
  }
}

bool IsWhole(const Gathered& gathered) {
  for (const StatePiece& piece : gathered.pieces) {
    if (piece.workers.empty()) return false;
  }
  return !gathered.disagree && !gathered.pieces.empty();
}

absl::btree_map<Sequence, Gathered> GatherAll(const JobState& job,
                                              const WorkerTable& workers,
                                              FragmentId fragment) {
  absl::btree_map<Sequence, Gathered> all;
  for (const auto& [name, seat] : job.seats) {
    const Worker* worker = workers.FindCurrent(name);
    if (worker == nullptr || worker->suspected ||
        worker->incarnation != seat.incarnation) {
      continue;
    }
    for (const FragmentFacts& facts : seat.facts.fragments) {
      if (facts.fragment != fragment) continue;
      for (const HeldBase& base : facts.bases) {
        Gathered& gathered = all[base.sequence];
        gathered.pieces.resize(job.span_count);
        Gather(base, name, gathered);
      }
    }
  }
  absl::erase_if(all, [](const auto& one) { return !IsWhole(one.second); });
  return all;
}

// What the job had committed before it came to the entry.
uint64_t StateBefore(const CommittedEntry& entry) {
  return (entry.state == 0 ? entry.sequence.value() : entry.state) - 1;
}

uint64_t SamplesAt(const JobState& job, const std::vector<Sequence>& at) {
  uint64_t samples = ConsumedBefore(job.spec).total();
  for (size_t f = 0; f < at.size(); ++f) {
    if (!at[f].is_set()) continue;
    const auto& history = job.fragments[f].history();
    samples = std::max(samples, history[at[f].value() - 1].samples_committed);
  }
  return samples;
}

// As SequencesAt, of one fragment as well.
std::vector<Sequence> AllSequencesAt(const JobState& job, Sequence state) {
  std::vector<Sequence> at = SequencesAt(job, state);
  if (at.empty()) at.push_back(state);
  return at;
}

// The sequences at the newest state of which `whole` has every fragment; none
// when the job has gone back since.
std::optional<std::vector<Sequence>> NewestWhole(
    const JobState& job,
    const std::vector<absl::btree_map<Sequence, Gathered>>& whole) {
  uint64_t state = job.State().value();
  while (Sequence(state) >= job.Floor()) {
    std::vector<Sequence> at = AllSequencesAt(job, Sequence(state));
    uint64_t before = state;
    for (size_t f = 0; f < at.size(); ++f) {
      auto newest = whole[f].upper_bound(at[f]);
      if (newest == whole[f].begin()) return std::nullopt;
      --newest;
      if (newest->first < job.fragments[f].floor()) return std::nullopt;
      if (newest->first == at[f]) continue;
      const auto& history = job.fragments[f].history();
      before = std::min(before, StateBefore(history[newest->first.value()]));
    }
    if (before == state) return at;
    state = before;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Sequence> SequencesAt(const JobState& job, Sequence state) {
  if (job.fragments.size() == 1) return {};
  std::vector<Sequence> at;
  for (const RoundMachine& machine : job.fragments) {
    const auto& history = machine.history();
    const auto after =
        std::upper_bound(history.begin(), history.end(), state.value(),
                         [](uint64_t value, const CommittedEntry& entry) {
                           return value < entry.state;
                         });
    at.push_back(Sequence(static_cast<uint64_t>(after - history.begin())));
  }
  return at;
}

std::optional<TakenIn> TakenInAt(const JobState& job, Sequence state) {
  const std::vector<Sequence> at = AllSequencesAt(job, state);
  std::vector<data::RangeSet> covered;
  TakenIn taken;
  for (size_t f = 0; f < at.size(); ++f) {
    const auto in =
        job.coverage.At(FragmentId(f), at[f], job.fragments[f].newest());
    if (!in.has_value()) return std::nullopt;
    covered.push_back(*in);
    taken.consumed = taken.consumed.Union(*in);
  }
  if (at.size() == 1) return taken;
  for (const data::RangeSet& in : covered) {
    taken.lacking.push_back(taken.consumed.Subtract(in));
  }
  return taken;
}

absl::StatusOr<StateView> LocateState(const JobState& job,
                                      const WorkerTable& workers) {
  std::vector<absl::btree_map<Sequence, Gathered>> whole;
  for (const RoundMachine& machine : job.fragments) {
    whole.push_back(GatherAll(job, workers, machine.fragment()));
  }
  const auto at = NewestWhole(job, whole);
  if (!at.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "no sequence of job ", job.spec.name,
        " has all its spans on workers that are there; try again when the job "
        "has workers"));
  }
  StateView view;
  view.id = job.id;
  view.spec = job.spec;
  uint64_t state = 0;
  for (size_t f = 0; f < at->size(); ++f) {
    state += (*at)[f].value();
    std::vector<StatePiece>& pieces = whole[f].at((*at)[f]).pieces;
    std::move(pieces.begin(), pieces.end(), std::back_inserter(view.pieces));
  }
  view.sequence = Sequence(state);
  if (at->size() > 1) view.fragment_sequences = *at;
  view.samples_committed = SamplesAt(job, *at);
  if (const auto taken = TakenInAt(job, view.sequence)) {
    view.samples_committed = taken->consumed.total();
    view.consumed = taken->consumed;
  }
  view.element_count = job.element_count;
  view.directory = DirectoryOf(view.pieces, workers);
  return view;
}

}  // namespace skerry::coordinator
