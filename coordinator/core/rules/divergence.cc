#include "coordinator/core/rules/divergence.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "coordinator/core/rules/holdings.h"
#include "coordinator/core/rules/lost_history.h"

namespace skerry::coordinator {
namespace {

using protocol::HeldBase;

// Workers that are away may have come further than those that are there.
constexpr uint64_t kSequencesAbove = 1000;
// A history has an entry for each sequence, so that no worker may have it jump
// further than this.
constexpr uint64_t kJumpMax = 1'000'000;

// The newest sequence of which a worker shows that it was committed, or that
// an attempt was opened for it.
Sequence ShownBy(const FragmentFacts& facts) {
  Sequence shown = std::max(facts.applied, facts.last_result);
  for (const HeldBase& base : facts.bases) {
    shown = std::max(shown, base.sequence);
  }
  return shown;
}

// Whether an operator has decided since about the history that the worker's
// newest result is of.
bool IsResultPast(const JobState& job, const FragmentFacts& facts) {
  return facts.last_result_attempt.is_set() &&
         facts.last_result_attempt.value() < job.adopted_at.value();
}

bool IsAhead(const JobState& job, const FragmentFacts& facts, Sequence newest) {
  const bool base_ahead = std::any_of(
      facts.bases.begin(), facts.bases.end(),
      [newest](const HeldBase& base) { return base.sequence > newest; });
  // Results of the next sequence are stored before they are committed.
  return facts.applied > newest || base_ahead ||
         (facts.last_result > Next(newest) && !IsResultPast(job, facts));
}

// Whether the worker's state was made by another attempt than the journal
// says.
bool IsForeign(const FragmentFacts& facts, const RoundMachine& machine) {
  if (!facts.applied_attempt.is_set() || facts.applied <= machine.floor()) {
    return false;
  }
  const CommittedEntry& entry = machine.history()[facts.applied.value() - 1];
  return entry.attempt.is_set() && entry.attempt != facts.applied_attempt;
}

// Whether the newest result on the worker's disk cannot be of any attempt that
// this journal has opened: those of one sequence have numbers between the
// attempt that made the sequence before and the one that made it.
bool HasForeignResult(const FragmentFacts& facts, const RoundMachine& machine) {
  if (!facts.last_result_attempt.is_set() ||
      facts.last_result <= Next(machine.floor()) ||
      facts.last_result > machine.newest()) {
    return false;
  }
  const size_t index = facts.last_result.value() - 1;
  const Attempt made = machine.history()[index].attempt;
  const Attempt before = machine.history()[index - 1].attempt;
  return made.is_set() && before.is_set() &&
         (facts.last_result_attempt > made ||
          facts.last_result_attempt < before);
}

// What is wrong with a worker's history; empty when nothing is.
std::string WrongWith(const JobState& job, const Seat& seat) {
  for (const FragmentFacts& facts : seat.facts.fragments) {
    if (facts.fragment.value() >= job.fragments.size()) continue;
    const RoundMachine& machine = job.fragments[facts.fragment.value()];
    const uint64_t newest = machine.newest().value();
    if (IsAhead(job, facts, machine.newest())) {
      return absl::StrCat("holds sequence ", ShownBy(facts).value(),
                          " of the job, and the journal ends at ", newest,
                          ": an older journal was put in place");
    }
    if (!IsResultPast(job, facts) && HasForeignResult(facts, machine)) {
      return absl::StrCat("has a result of sequence ",
                          facts.last_result.value(), " from attempt ",
                          facts.last_result_attempt.value(),
                          ", which the journal does not have there: another "
                          "journal was put in place");
    }
    if (IsForeign(facts, machine)) {
      return absl::StrCat("has made sequence ", facts.applied.value(),
                          " from attempt ", facts.applied_attempt.value(),
                          ", which the journal does not have there: another "
                          "journal was put in place");
    }
  }
  return "";
}

bool IsThere(const WorkerTable& workers, const std::string& name,
             const Seat& seat) {
  return workers.IsCurrent(name, seat.incarnation);
}

// One fragment as the workers that are there show it.
struct Held {
  // By sequence and span, the hash of the base; unset where two disagree.
  absl::btree_map<Sequence, absl::btree_map<uint32_t, std::optional<uint64_t>>>
      bases;
  // By sequence, the attempt that made it, where a worker knows that.
  absl::btree_map<Sequence, Attempt> attempts;
  Sequence shown;
};

Held HeldOf(const JobState& job, const WorkerTable& workers,
            const RoundMachine& machine) {
  Held held;
  for (const auto& [name, seat] : job.seats) {
    if (!IsThere(workers, name, seat)) continue;
    for (const FragmentFacts& facts : seat.facts.fragments) {
      if (facts.fragment != machine.fragment()) continue;
      held.shown = std::max(held.shown, ShownBy(facts));
      for (const HeldBase& base : facts.bases) {
        auto& spans = held.bases[base.sequence];
        Attempt& attempt = held.attempts[base.sequence];
        attempt = std::max(attempt, base.attempt);
        for (size_t i = 0; i < base.hashes.size(); ++i) {
          const auto span = static_cast<uint32_t>(base.span_begin + i);
          const auto [it, fresh] = spans.try_emplace(span, base.hashes[i]);
          if (!fresh && it->second != base.hashes[i]) it->second.reset();
        }
      }
    }
  }
  return held;
}

bool IsWhole(const JobState& job,
             const absl::btree_map<uint32_t, std::optional<uint64_t>>& spans) {
  if (spans.size() != job.span_count) return false;
  return std::all_of(spans.begin(), spans.end(),
                     [](const auto& span) { return span.second.has_value(); });
}

// Whether two workers hold one base, of some span, and if so at a sequence that
// is no beginning.
bool ShareBase(const FragmentFacts& a, const FragmentFacts& b) {
  for (const HeldBase& of_a : a.bases) {
    for (const HeldBase& of_b : b.bases) {
      if (of_a.sequence != of_b.sequence || !of_a.sequence.is_set()) continue;
      const size_t begin = std::max(of_a.span_begin, of_b.span_begin);
      const size_t end = std::min(of_a.span_begin + of_a.hashes.size(),
                                  of_b.span_begin + of_b.hashes.size());
      for (size_t span = begin; span < end; ++span) {
        if (of_a.hashes[span - of_a.span_begin] ==
            of_b.hashes[span - of_b.span_begin]) {
          return true;
        }
      }
    }
  }
  return false;
}

bool HoldsBaseAt(const FragmentFacts& facts, Sequence sequence) {
  return std::any_of(
      facts.bases.begin(), facts.bases.end(),
      [sequence](const HeldBase& base) { return base.sequence == sequence; });
}

// What workers that are there say of the fragment, by name; only of those that
// have more than what the job began with.
std::vector<std::pair<std::string, const FragmentFacts*>> FactsOf(
    const JobState& job, const WorkerTable& workers,
    const RoundMachine& machine) {
  std::vector<std::pair<std::string, const FragmentFacts*>> all;
  for (const auto& [name, seat] : job.seats) {
    if (!IsThere(workers, name, seat)) continue;
    for (const FragmentFacts& facts : seat.facts.fragments) {
      if (facts.fragment == machine.fragment() && ShownBy(facts).is_set()) {
        all.emplace_back(name, &facts);
      }
    }
  }
  return all;
}

// Whether the worker has the very result that made the other's state.
bool HasResultOf(const FragmentFacts& facts, const FragmentFacts& other) {
  return other.applied_attempt.is_set() && facts.last_result == other.applied &&
         facts.last_result_attempt == other.applied_attempt;
}

// The workers whose state is not on the way to the one at `sequence`: they are
// beyond it, or hold neither it, nor the result that made it, nor an older base
// of one who does.
std::vector<std::string> Dissenters(const JobState& job,
                                    const WorkerTable& workers,
                                    const RoundMachine& machine,
                                    Sequence sequence) {
  const auto all = FactsOf(job, workers, machine);
  std::vector<std::string> names;
  for (const auto& [name, facts] : all) {
    bool agrees = HoldsBaseAt(*facts, sequence);
    for (const auto& [other, its] : all) {
      agrees =
          agrees || (HoldsBaseAt(*its, sequence) &&
                     (ShareBase(*facts, *its) || HasResultOf(*facts, *its)));
    }
    if (!agrees || facts->applied > sequence) names.push_back(name);
  }
  return names;
}

// Whether two workers hold different bases of one sequence.
bool AnyDiffer(const Held& held) {
  for (const auto& [sequence, spans] : held.bases) {
    for (const auto& [span, hash] : spans) {
      if (!hash.has_value()) return true;
    }
  }
  return false;
}

struct Choice {
  std::vector<Sequence> sequences;
  std::vector<Attempt> attempts;
  std::string text;
};

// A worker that is there, has a folder of the job, and has not told yet what it
// holds; empty when there is none.
std::string Unheard(const JobState& job, const WorkerTable& workers) {
  for (const auto& [name, worker] : workers.all()) {
    if (worker.left || !HasFolderOf(job, worker)) continue;
    if (job.SeatOf(name, worker.incarnation) == nullptr) return name;
  }
  return "";
}

// Errors: FailedPrecondition, in words.
absl::StatusOr<Choice> ChooseAdopted(const JobState& job,
                                     const WorkerTable& workers) {
  if (const std::string name = Unheard(job, workers); !name.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "worker ", name,
        " has a folder of the job and has not told yet what it holds"));
  }
  Choice choice;
  absl::btree_set<std::string> holders;
  for (const RoundMachine& machine : job.fragments) {
    const Held held = HeldOf(job, workers, machine);
    Sequence found;
    for (const auto& [sequence, spans] : held.bases) {
      if (sequence >= machine.newest() && IsWhole(job, spans)) found = sequence;
    }
    if (AnyDiffer(held)) {
      return absl::FailedPreconditionError(
          "workers hold different states of one sequence; stop those whose "
          "state is not the one to keep");
    }
    if (!found.is_set()) {
      return absl::FailedPreconditionError(
          "no state after the journal's end has all its spans on workers that "
          "are there");
    }
    if (found.value() - machine.newest().value() > kJumpMax) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the workers' sequence ", found.value(), " is out of range"));
    }
    const std::vector<std::string> others =
        Dissenters(job, workers, machine, found);
    if (!others.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the state at sequence ", found.value(), " is not that of ",
          absl::StrJoin(others, ", "),
          "; stop those workers if theirs is not the one to keep"));
    }
    choice.sequences.push_back(found);
    choice.attempts.push_back(held.attempts.at(found));
  }
  for (const auto& [name, seat] : job.seats) {
    if (IsThere(workers, name, seat)) holders.insert(name);
  }
  uint64_t state = 0;
  for (const Sequence sequence : choice.sequences) state += sequence.value();
  choice.text =
      absl::StrCat("sequence ", state, ", in which ", holders.size(),
                   " worker(s) agree: ", absl::StrJoin(holders, ", "));
  return choice;
}

// In words; "" when there is none.
std::string KnownCheckpoint(const JobState& job) {
  if (!job.spec.checkpoint.has_value()) return "";
  return job.checkpoints.empty()
             ? "the journal knows of none"
             : absl::StrCat("the journal knows checkpoint-",
                            job.checkpoints.back().sequence.value());
}

absl::Status NothingToDecide(const JobState& job) {
  return absl::FailedPreconditionError(absl::StrCat(
      "job ", job.spec.name,
      " has no other history on workers than in the journal, and workers hold "
      "its state; there is nothing to decide"));
}

// Whether nobody holds the job's state. It may be lost together with the newest
// checkpoint that the journal knows.
bool HasNoState(const JobState& job, const WorkerTable& workers) {
  return job.Sized() && job.replicas.current().empty() &&
         !LostText(job, workers).empty();
}

void Stop(JobState& job, const Decider& decider, const Diverged& record) {
  EndLives(job, decider, record.reason);
  job.saving.reset();
  job.evaluator.clear();
  decider.emit(record);
}

void BeginAnew(JobState& job) {
  for (RoundTimers& timers : job.timers) timers.OnClosed();
  for (JobState::Anchors& anchors : job.anchors) anchors.clear();
  job.lost_spans.reset();
  job.final_since.reset();
  job.final_alone_since.reset();
  job.places_stale = true;
}

}  // namespace

void DecideDivergence(JobState& job, const Decider& decider) {
  if (job.Ended() || job.diverged.has_value() || !job.Sized()) return;
  for (const auto& [name, seat] : job.seats) {
    const std::string wrong = WrongWith(job, seat);
    if (wrong.empty() || !IsThere(decider.workers, name, seat)) continue;
    return Stop(job, decider,
                {job.id, name, absl::StrCat("worker ", name, " ", wrong)});
  }
}

std::string DivergenceText(const JobState& job, const WorkerTable& workers) {
  const std::string restore = absl::StrCat("skerryctl restore ", job.spec.name);
  const absl::StatusOr<Choice> choice = ChooseAdopted(job, workers);
  const std::string adopt =
      choice.ok() ? absl::StrCat("keep what workers hold (", choice->text,
                                 "): ", restore, " --from-workers")
                  : absl::StrCat("what workers hold cannot be kept now: ",
                                 choice.status().message());
  const std::string known = KnownCheckpoint(job);
  return absl::StrCat(job.diverged->reason,
                      ". The job stands until an operator decides; ", adopt,
                      known.empty()
                          ? ""
                          : absl::StrCat("; go back to a checkpoint (", known,
                                         ", the folder may have newer ones): ",
                                         restore, " --checkpoint newest"));
}

absl::Status AdoptWorkers(JobState& job, const Decider& decider) {
  if (job.Ended() || !job.diverged.has_value()) return NothingToDecide(job);
  SKERRY_ASSIGN_OR_RETURN(const Choice choice,
                          ChooseAdopted(job, decider.workers));
  decider.emit(
      Adopted{job.id, choice.sequences,
              absl::StrCat(choice.text,
                           "; samples that only the lost records name are "
                           "trained on again"),
              choice.attempts});
  for (auto& [name, seat] : job.seats) RemoveLost(job, seat.facts);
  BeginAnew(job);
  return absl::OkStatus();
}

absl::Status GoBackToSaved(JobState& job, const Decider& decider,
                           Checkpointed saved) {
  const bool stateless = HasNoState(job, decider.workers);
  if (job.Ended() || !(job.diverged.has_value() || stateless)) {
    return NothingToDecide(job);
  }
  if (!job.spec.checkpoint.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", job.spec.name,
                     " saves no checkpoints; start a new job from "
                     "one, with model.checkpoint"));
  }
  // A manifest does not say what single fragments lack of a state: what one of
  // them has taken in counts.
  if (saved.lacking.empty() && job.fragments.size() > 1) {
    saved.lacking.resize(job.fragments.size());
  }
  const data::RangeSet all(data::SampleRange{0, job.spec.training.samples});
  if (!all.ContainsAll(saved.consumed) ||
      saved.lacking.size() !=
          (job.fragments.size() > 1 ? job.fragments.size() : 0)) {
    return absl::FailedPreconditionError(
        absl::StrCat("checkpoint-", saved.sequence.value(),
                     " is not one of job ", job.spec.name));
  }
  std::vector<Sequence> sequences;
  uint64_t state = 0;
  for (const RoundMachine& machine : job.fragments) {
    const uint64_t shown =
        std::max(HeldOf(job, decider.workers, machine).shown.value(),
                 machine.newest().value());
    if (shown - machine.newest().value() > kJumpMax) {
      return absl::FailedPreconditionError(
          absl::StrCat("the workers' sequence ", shown, " is out of range"));
    }
    sequences.emplace_back(shown + kSequencesAbove);
    state += sequences.back().value();
  }
  if (!job.diverged.has_value()) {
    Stop(job, decider,
         {job.id, "", "no worker that is there holds the state of the job"});
  }
  // A checkpoint made in the lost history is newer than every state that the
  // journal knows of.
  saved.job = job.id;
  saved.error.clear();
  const Sequence checkpoint = saved.sequence;
  const Checkpointed* known = job.FindCheckpoint(checkpoint);
  if (known == nullptr || known->sha256 != saved.sha256) {
    decider.emit(std::move(saved));
  }
  decider.emit(Restored{
      job.id, Sequence(state), checkpoint,
      absl::StrCat("an operator has decided so: ", job.diverged->reason),
      std::move(sequences)});
  BeginAnew(job);
  return absl::OkStatus();
}

void EndLaterLife(JobState& job, const Decider& decider,
                  const std::string& worker, Revision seen) {
  const Replica* replica = job.replicas.FindWorker(worker);
  if (job.Ended() || replica == nullptr) return;
  EndLife(job, decider, replica->life,
          absl::StrCat("worker ", worker, " has heard of record ", seen.value(),
                       " of a journal that ended later"));
}

}  // namespace skerry::coordinator
