#include "coordinator/core/rules/checkpoints.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/rules/holdings.h"
#include "coordinator/core/rules/state_view.h"

namespace skerry::coordinator {
namespace {

// A state that cannot be saved is tried again after a lease, then twice as
// long, at last after this.
constexpr absl::Duration kPauseMax = absl::Minutes(10);

Sequence LastSaved(const JobState& job) {
  return job.checkpoints.empty()
             ? WentBackAt(job)
             : std::max(WentBackAt(job), job.checkpoints.back().sequence);
}

// Whether a worker leaves that is the last one with some spans.
bool LastHolderLeaves(const JobState& job, const WorkerTable& workers) {
  for (const auto& [name, seat] : job.seats) {
    const Worker* worker = workers.FindCurrent(name);
    if (worker != nullptr && worker->Leaves() &&
        !IsCoveredWithout(job, workers, name)) {
      return true;
    }
  }
  return false;
}

bool IsDue(const JobState& job, const WorkerTable& workers, Sequence sequence) {
  const Sequence last = LastSaved(job);
  if (sequence <= last) return false;
  if (job.lost_spans.has_value() && job.lost_spans->given_up) return true;
  const uint64_t every = job.spec.checkpoint->every;
  if (sequence.value() / every > last.value() / every) return true;
  if (sequence < job.State()) return false;
  return job.Trained() || LastHolderLeaves(job, workers);
}

// One of those that have most of the state, each in its turn, and one that
// leaves only when there is nobody else. Empty: nobody can.
std::string ChooseSaver(const JobState& job, const WorkerTable& workers,
                        const StateView& state) {
  absl::btree_map<std::string, size_t> held;
  for (const StatePiece& piece : state.pieces) {
    for (const std::string& name : piece.workers) ++held[name];
  }
  // Who can write to the folder, as far as is known, goes first.
  std::tuple<bool, bool, size_t> most{false, false, 0};
  std::vector<std::string> names;
  for (const auto& [name, seat] : job.seats) {
    const Worker* worker = workers.FindCurrent(name);
    if (worker == nullptr || worker->suspected || !seat.unfit.empty() ||
        worker->incarnation != seat.incarnation) {
      continue;
    }
    const auto it = held.find(name);
    if (it == held.end()) continue;
    const std::tuple<bool, bool, size_t> worth{
        seat.facts.checkpoint_trouble.empty(), !worker->Leaves(), it->second};
    if (worth < most) continue;
    if (worth > most) names.clear();
    most = worth;
    names.push_back(name);
  }
  if (names.empty()) return "";
  const uint64_t turn = state.sequence.value() / job.spec.checkpoint->every;
  return names[turn % names.size()];
}

// `pause`: before the next try.
void Fail(JobState& job, const Decider& decider, std::string error,
          absl::Duration pause) {
  const Saving failed = *std::move(job.saving);
  job.saving.reset();
  if (pause > absl::ZeroDuration()) {
    ++job.save_failures;
    job.save_failed = failed.order.sequence;
  }
  job.save_not_before = decider.now + pause;
  job.touched.insert(failed.worker);
  decider.emit(Checkpointed{job.id,
                            failed.order.sequence,
                            failed.worker,
                            "",
                            0,
                            std::move(error),
                            {},
                            {}});
}

// Whether the order will not be carried out, although the worker is there.
// Three things show this. The worker says nothing about the job any more,
// because it has lost its place and orders no longer name the job to it. It
// became unfit before it began. Or it had begun, and now names another state or
// none.
bool HasGivenUp(const JobState& job, const Saving& saving) {
  const Seat* seat = job.SeatOf(saving.worker, saving.incarnation);
  if (seat == nullptr || seat->facts.fragments.empty()) return true;
  if (!saving.begun) return !seat->unfit.empty();
  const auto& said = seat->facts.checkpoint;
  return !said.has_value() || said->sequence != saving.order.sequence;
}

// Whether somebody may still have to read what the job went back to.
bool IsRestoredNeeded(const JobState& job) {
  if (!job.restored.has_value() || !job.restored->checkpoint.is_set()) {
    return false;
  }
  for (size_t f = 0; f < job.fragments.size(); ++f) {
    if (job.keep_from[f] <= job.fragments[f].floor()) return true;
  }
  return false;
}

// A newer one may have been saved by somebody who died before saying so.
std::vector<Sequence> Pinned(const JobState& job) {
  std::vector<Sequence> pinned;
  if (IsRestoredNeeded(job)) pinned.push_back(job.restored->checkpoint);
  if (!job.checkpoints.empty()) {
    pinned.push_back(job.checkpoints.back().sequence);
  }
  return pinned;
}

absl::Duration PauseAfter(const JobState& job, const ClusterOptions& options) {
  const int doublings = std::min(job.save_failures, 16);
  return std::min(kPauseMax, options.lease * (1 << doublings));
}

}  // namespace

void TakeCheckpoint(JobState& job, const Decider& decider,
                    const std::string& worker, const JobFacts& facts) {
  if (job.Ended() || !job.spec.checkpoint.has_value() ||
      !facts.checkpoint.has_value()) {
    return;
  }
  const protocol::CheckpointFact& fact = *facts.checkpoint;
  const Worker* saver = decider.workers.FindCurrent(worker);
  const bool ordered = job.saving.has_value() && job.saving->worker == worker &&
                       job.saving->order.sequence == fact.sequence;
  if (!fact.error.empty()) {
    if (ordered) {
      Fail(job, decider, fact.error, PauseAfter(job, decider.options));
    }
    return;
  }
  if (ordered) job.saving->begun = true;
  if (saver == nullptr || fact.sequence <= LastSaved(job) ||
      fact.sequence > job.State()) {
    return;
  }
  const std::optional<TakenIn> taken = TakenInAt(job, fact.sequence);
  if (!taken.has_value()) return;
  if (fact.sha256.empty()) {
    if (job.saving.has_value()) return;
    // Ordered by a former process.
    job.saving = Saving{worker,
                        saver->incarnation,
                        decider.now,
                        {fact.sequence,
                         taken->consumed.total(),
                         {},
                         taken->consumed,
                         {},
                         SequencesAt(job, fact.sequence)},
                        true};
    return;
  }
  if (job.saving.has_value() && job.saving->order.sequence <= fact.sequence) {
    job.touched.insert(job.saving->worker);
    job.saving.reset();
  }
  job.save_failures = 0;
  decider.emit(Checkpointed{job.id, fact.sequence, worker, fact.sha256,
                            fact.bytes, "", taken->consumed, taken->lacking});
}

void DecideCheckpoints(JobState& job, const Decider& decider) {
  if (!job.spec.checkpoint.has_value() || !job.Sized()) return;
  if (job.saving.has_value()) {
    if (!decider.workers.IsCurrent(job.saving->worker,
                                   job.saving->incarnation) ||
        HasGivenUp(job, *job.saving)) {
      Fail(job, decider, kSaverLost, absl::ZeroDuration());
    } else if (job.saving->since + decider.options.checkpoint_max <=
               decider.now) {
      Fail(job, decider, "it takes too long", PauseAfter(job, decider.options));
    } else {
      return;
    }
  }
  const Sequence newest = job.State();
  // The job does not end before its last state was tried.
  const bool urgent =
      job.Trained() && job.save_failed.is_set() && job.save_failed < newest;
  if ((decider.now < job.save_not_before && !urgent) ||
      !IsDue(job, decider.workers, newest)) {
    return;
  }
  const absl::StatusOr<StateView> state = LocateState(job, decider.workers);
  if (!state.ok() || !IsDue(job, decider.workers, state->sequence)) return;
  // Without them nobody could go on from it.
  if (state->consumed.total() != state->samples_committed) {
    return;
  }
  const std::string worker = ChooseSaver(job, decider.workers, *state);
  if (worker.empty()) return;
  job.saving = Saving{worker,
                      decider.workers.FindCurrent(worker)->incarnation,
                      decider.now,
                      {state->sequence, state->samples_committed, state->pieces,
                       state->consumed, Pinned(job), state->fragment_sequences},
                      false};
  job.touched.insert(worker);
}

void CollectCheckpoints(const JobState& job, const ClusterOptions& options,
                        Earliest& earliest) {
  if (!job.spec.checkpoint.has_value()) return;
  earliest.Consider(job.saving.has_value()
                        ? job.saving->since + options.checkpoint_max
                        : job.save_not_before);
}

bool AwaitsCheckpoint(const JobState& job) {
  const Sequence newest = job.State();
  return job.spec.checkpoint.has_value() && LastSaved(job) < newest &&
         job.save_failed != newest;
}

std::string CheckpointFolderTrouble(const JobState& job) {
  if (!job.spec.checkpoint.has_value()) return "";
  std::string first;
  for (const auto& [island, place] : job.places) {
    for (size_t rank = 0; rank < place.workers.size(); ++rank) {
      const std::string& name = place.workers[rank];
      const Seat* seat = job.SeatOf(name, place.incarnations[rank]);
      if (seat == nullptr || seat->facts.checkpoint_trouble.empty()) return "";
      if (first.empty()) {
        first = absl::StrCat("no worker can save checkpoints; ", name, ": ",
                             seat->facts.checkpoint_trouble);
      }
    }
  }
  return first;
}

std::optional<protocol::CheckpointOrder> CheckpointOrderFor(
    const JobState& job, std::string_view worker) {
  if (job.Ended() || !job.saving.has_value() || job.saving->worker != worker) {
    return std::nullopt;
  }
  return job.saving->order;
}

}  // namespace skerry::coordinator
