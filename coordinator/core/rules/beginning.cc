#include "coordinator/core/rules/beginning.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "coordinator/core/rules/restore.h"

namespace skerry::coordinator {
namespace {

// Whether the job's first state is that of a checkpoint.
bool BeginsAtCheckpoint(const JobState& job) {
  return job.restored.has_value() && job.restored->checkpoint.is_set();
}

// The sequence of the state that initial values make. Requires: it is not that
// of a checkpoint.
Sequence BeginsAt(const JobState& job, const RoundMachine& machine) {
  return job.restored.has_value()
             ? job.restored->fragment_sequences[machine.fragment().value()]
             : Sequence();
}

// Whether nothing has been committed since the job began, and no replica has a
// life. The floor is no measure of that: an operator may have kept a state with
// commits in it.
bool IsAtItsBeginning(const JobState& job) {
  if (!job.replicas.current().empty() || !job.checkpoints.empty() ||
      BeginsAtCheckpoint(job)) {
    return false;
  }
  return std::all_of(job.fragments.begin(), job.fragments.end(),
                     [&job](const RoundMachine& machine) {
                       return machine.newest() == BeginsAt(job, machine);
                     });
}

// Marks the spans that the worker has at the fragment's newest sequence.
void MarkHeld(const RoundMachine& machine, const FragmentFacts& facts,
              std::vector<bool>& held) {
  const auto mark = [&held](uint32_t begin, size_t count) {
    for (size_t span = begin; span < begin + count && span < held.size();
         ++span) {
      held[span] = true;
    }
  };
  if (facts.applied >= machine.floor()) {
    mark(facts.span_begin, facts.anchor_hashes.size());
  }
  for (const protocol::HeldBase& base : facts.bases) {
    if (base.sequence >= machine.floor()) {
      mark(base.span_begin, base.hashes.size());
    }
  }
}

// The spans of the fragment that workers which are there have.
std::vector<bool> HeldSpans(const JobState& job, const WorkerTable& workers,
                            const RoundMachine& machine) {
  std::vector<bool> held(job.span_count, false);
  for (const auto& [name, seat] : job.seats) {
    if (!workers.IsCurrent(name, seat.incarnation)) continue;
    for (const FragmentFacts& facts : seat.facts.fragments) {
      if (facts.fragment == machine.fragment()) MarkHeld(machine, facts, held);
    }
  }
  return held;
}

// Whether workers that are there have every span.
bool IsHeld(const JobState& job, const WorkerTable& workers) {
  return std::all_of(job.fragments.begin(), job.fragments.end(),
                     [&](const RoundMachine& machine) {
                       const auto held = HeldSpans(job, workers, machine);
                       return std::find(held.begin(), held.end(), false) ==
                              held.end();
                     });
}

// Whether workers that are there have some span.
bool IsHeldInPart(const JobState& job, const WorkerTable& workers) {
  return std::any_of(job.fragments.begin(), job.fragments.end(),
                     [&](const RoundMachine& machine) {
                       const auto held = HeldSpans(job, workers, machine);
                       return std::find(held.begin(), held.end(), true) !=
                              held.end();
                     });
}

// A fit worker with a place.
struct Candidate {
  std::string worker;
  Incarnation incarnation;
  // 0 while its trainer has not said with which values it begins.
  uint64_t initial_hash = 0;
};

std::vector<Candidate> CandidatesOf(const JobState& job) {
  std::vector<Candidate> found;
  for (const auto& [island, place] : job.places) {
    for (size_t rank = 0; rank < place.workers.size(); ++rank) {
      const Seat* seat =
          job.SeatOf(place.workers[rank], place.incarnations[rank]);
      if (seat == nullptr || !seat->unfit.empty()) continue;
      found.push_back(
          {place.workers[rank], seat->incarnation, seat->facts.initial_hash});
    }
  }
  return found;
}

// Whether the worker has the values of the job, or may have them: its trainer
// has not answered yet.
bool MayHaveThem(const JobState& job, const Candidate& one) {
  return one.initial_hash == job.initial_hash || one.initial_hash == 0;
}

bool HasPlace(const JobState& job,
              const std::pair<std::string, Incarnation>& process) {
  for (const auto& [island, place] : job.places) {
    for (size_t rank = 0; rank < place.workers.size(); ++rank) {
      if (place.workers[rank] == process.first &&
          place.incarnations[rank] == process.second) {
        return true;
      }
    }
  }
  return false;
}

// Notes which processes could make a state of the job's values.
void NoteBeginners(JobState& job) {
  if (!job.beginners.has_value()) return;
  for (const auto& [name, seat] : job.seats) {
    if (seat.facts.initial_hash == job.initial_hash) {
      job.beginners->named.emplace(name, seat.incarnation);
    }
  }
  for (const auto& [island, place] : job.places) {
    for (size_t rank = 0; rank < place.workers.size(); ++rank) {
      job.beginners->placed.emplace(place.workers[rank],
                                    place.incarnations[rank]);
    }
  }
  job.beginners->all_stayed =
      job.beginners->all_stayed &&
      std::all_of(job.beginners->placed.begin(), job.beginners->placed.end(),
                  [&job](const auto& one) { return HasPlace(job, one); });
}

// Whether no disk has a part of a state of the job's values. Workers with a
// place say what theirs have.
bool IsOnNoDisk(const JobState& job, const WorkerTable& workers) {
  if (!job.beginners.has_value() || !job.beginners->all_stayed ||
      IsHeldInPart(job, workers)) {
    return false;
  }
  const auto all_current = [&workers](const auto& processes) {
    return std::all_of(processes.begin(), processes.end(),
                       [&workers](const auto& one) {
                         return workers.IsCurrent(one.first, one.second);
                       });
  };
  return all_current(job.beginners->named) &&
         all_current(job.beginners->placed);
}

void TakeInPlace(JobState& job, const Decider& decider, uint64_t hash) {
  JobSized anew{job.id, job.element_count, job.epoch_samples,
                job.flops_per_sample};
  anew.initial_hash = hash;
  anew.layout_hash = job.layout_hash;
  anew.program_sha256 = job.program_sha256;
  anew.average_begin = job.average_begin;
  decider.emit(std::move(anew));
}

}  // namespace

bool MayBeginDifferently(const job::JobSpec& spec) {
  return spec.model.program.has_value() && !spec.model.checkpoint.has_value();
}

void RemoveOfOtherValues(const JobState& job, JobFacts& facts) {
  if (!MayBeginDifferently(job.spec) || BeginsAtCheckpoint(job) ||
      facts.begun_with == 0 || job.initial_hash == 0 ||
      facts.begun_with == job.initial_hash) {
    return;
  }
  for (FragmentFacts& fragment : facts.fragments) {
    const uint64_t index = fragment.fragment.value();
    if (index >= job.fragments.size()) continue;
    const Sequence first = BeginsAt(job, job.fragments[index]);
    std::erase_if(fragment.bases, [first](const protocol::HeldBase& base) {
      return base.sequence <= first && !base.attempt.is_set();
    });
    if (fragment.applied <= first && !fragment.applied_attempt.is_set()) {
      fragment.applied = Sequence();
      fragment.anchor_hashes.clear();
      fragment.stored_through = Sequence();
    }
  }
}

void DecideBeginning(JobState& job, const Decider& decider) {
  if (!MayBeginDifferently(job.spec) || !job.Sized() || job.Ended()) return;
  NoteBeginners(job);
  if (job.diverged.has_value() || !IsAtItsBeginning(job)) return;
  if (IsHeld(job, decider.workers)) {
    // From now on others may fetch it.
    job.beginners.reset();
    return;
  }
  const std::vector<Candidate> candidates = CandidatesOf(job);
  const Candidate* next = nullptr;
  for (const Candidate& one : candidates) {
    if (MayHaveThem(job, one)) return;
    if (next == nullptr && one.initial_hash != 0) next = &one;
  }
  if (next == nullptr) return;
  if (IsOnNoDisk(job, decider.workers)) {
    TakeInPlace(job, decider, next->initial_hash);
  } else {
    GoBack(job, decider,
           absl::StrFormat(
               "no worker that is there has the values that the job began with "
               "(hash %016x), and it begins with those of worker %s (%016x)",
               job.initial_hash, next->worker, next->initial_hash),
           next->initial_hash);
  }
  job.beginners.emplace();
  NoteBeginners(job);
}

}  // namespace skerry::coordinator
