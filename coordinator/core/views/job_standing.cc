#include "coordinator/core/views/job_standing.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/core/rules/checkpoints.h"
#include "coordinator/core/rules/divergence.h"
#include "coordinator/core/rules/evaluations.h"
#include "coordinator/core/rules/fit.h"
#include "coordinator/core/rules/holdings.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/rules/placing.h"

namespace skerry::coordinator {
namespace {

// How many workers are named in one sentence.
constexpr size_t kNamedMax = 3;
// An exchange that was opened so often is in trouble.
constexpr uint64_t kTriesMax = 3;

class Standings {
 public:
  Standings(const JobState& job, const WorkerTable& workers,
            const ClusterOptions& options, const Turn& turn, Instant now)
      : job_(job),
        workers_(workers),
        options_(options),
        turn_(turn),
        now_(now) {}

  Standing Explain() &&;

 private:
  // The job moves.
  void Moves(std::string reason) { standing_.reason = std::move(reason); }
  // It does not. `needs_help`: it will not by itself.
  void Stands(ConditionKind kind, std::string reason, bool needs_help = false) {
    standing_.conditions.push_back({kind, reason, needs_help});
    standing_.reason = std::move(reason);
  }
  void Pending();
  void Finishing();
  void NoReplica();
  void Replicas();
  void CheckpointTrouble();
  void WorkerTrouble();

  // How the workers that have places get on, island by island.
  std::string PlacesText() const;
  std::string WorkersOfPlace(const Place& place) const;
  // Nothing, or "; NAME: what is wrong there" of the first worker that says so.
  std::string TroubleText() const;
  // Nothing, or "; NAME: what its trainer waits for before it is ready" of the
  // first worker that says so.
  std::string StartText() const;
  std::string OtherwiseBackTo() const;
  // Islands with a worker that may have a place or has one.
  size_t IslandsThere() const;
  size_t WorkersThere() const;
  // Null when none is open.
  const RoundMachine* FirstOpen() const;
  // Replicas whose workers are all heard of.
  size_t CountHeard(std::string* silent) const;
  // The workers of all replicas, when each of them leaves; else nothing.
  std::string AllDrain() const;
  const JobState& job_;
  const WorkerTable& workers_;
  const ClusterOptions& options_;
  const Turn& turn_;
  const Instant now_;
  Standing standing_;
};

std::string Standings::TroubleText() const {
  for (const auto& [worker, seat] : job_.seats) {
    if (seat.facts.error.empty()) continue;
    return absl::StrCat("; ", worker, ": ", seat.facts.error);
  }
  return "";
}

std::string Standings::StartText() const {
  for (const auto& [worker, seat] : job_.seats) {
    if (seat.facts.state != protocol::SeatState::kStarting) continue;
    if (seat.facts.trainer_trouble.empty()) continue;
    return absl::StrCat("; ", worker, ": ", seat.facts.trainer_trouble);
  }
  return "";
}

std::string Standings::OtherwiseBackTo() const {
  if (job_.checkpoints.empty()) {
    return "; there is no checkpoint to go back to";
  }
  // It goes back by itself once, and does not try another.
  if (job_.State() <= WentBackAt(job_)) {
    return absl::StrCat(
        ". It went back to checkpoint-", job_.restored->checkpoint.value(),
        ", and no worker that is there has that state; go back to another one "
        "that the folder has: skerryctl restore ",
        job_.spec.name, " --checkpoint newest");
  }
  return absl::StrCat(", or goes back to checkpoint-",
                      job_.checkpoints.back().sequence.value());
}

const RoundMachine* Standings::FirstOpen() const {
  for (const RoundMachine& machine : job_.fragments) {
    if (machine.open().has_value()) return &machine;
  }
  return nullptr;
}

size_t Standings::WorkersThere() const {
  size_t count = 0;
  for (const auto& [name, worker] : workers_.all()) {
    if (WhyNoPlace(job_.spec, NeededBy(job_), workers_, worker, turn_, options_)
            .empty())
      ++count;
  }
  return count;
}

size_t Standings::IslandsThere() const {
  absl::btree_set<std::string> islands;
  for (const auto& [life, replica] : job_.replicas.current()) {
    islands.insert(replica.island);
  }
  for (const auto& [name, worker] : workers_.all()) {
    const Seat* seat = job_.SeatOf(name, worker.incarnation);
    const bool unfit = seat != nullptr && !seat->unfit.empty();
    if (!unfit &&
        WhyNoPlace(job_.spec, NeededBy(job_), workers_, worker, turn_, options_)
            .empty()) {
      islands.insert(worker.island);
    }
  }
  return islands.size();
}

std::string Standings::WorkersOfPlace(const Place& place) const {
  std::vector<std::string> texts;
  for (size_t rank = 0; rank < place.workers.size(); ++rank) {
    if (texts.size() == kNamedMax) {
      texts.push_back(
          absl::StrCat("and ", place.workers.size() - rank, " more"));
      break;
    }
    const std::string& name = place.workers[rank];
    const Seat* seat = job_.SeatOf(name, place.incarnations[rank]);
    if (seat == nullptr) {
      texts.push_back(absl::StrCat(name, " has not answered yet"));
    } else if (!seat->facts.error.empty()) {
      texts.push_back(absl::StrCat(name, ": ", seat->facts.error));
    } else if (seat->facts.state == protocol::SeatState::kStarting) {
      const std::string& waits = seat->facts.trainer_trouble;
      texts.push_back(absl::StrCat(name, " starts its trainer",
                                   waits.empty() ? "" : ": ", waits));
    } else {
      uint64_t applied = 0;
      for (const FragmentFacts& facts : seat->facts.fragments) {
        applied += facts.applied.value();
      }
      texts.push_back(absl::StrCat(name, " is at sequence ", applied, " of ",
                                   job_.State().value()));
    }
  }
  return absl::StrJoin(texts, ", ");
}

std::string Standings::PlacesText() const {
  std::vector<std::string> texts;
  for (const auto& [island, place] : job_.places) {
    if (job_.replicas.FindIsland(island) != nullptr) continue;
    texts.push_back(
        absl::StrCat("island ", island, ": ", WorkersOfPlace(place)));
  }
  for (const auto& [island, settling] : job_.settling) {
    const absl::Duration left =
        std::max(absl::ZeroDuration(), settling.until - now_);
    texts.push_back(absl::StrCat(
        "island ", island, " waits ",
        absl::FormatDuration(absl::Ceil(left, absl::Seconds(1))), " for ",
        absl::StrJoin(settling.workers, ", "), " to be complete again"));
  }
  return absl::StrJoin(texts, "; ");
}

size_t Standings::CountHeard(std::string* silent) const {
  size_t heard = 0;
  for (const auto& [life, replica] : job_.replicas.current()) {
    if (!IsSuspected(replica, workers_)) {
      ++heard;
      continue;
    }
    for (const SpanHolder& holder : replica.holders) {
      const Worker* worker = workers_.FindCurrent(holder.peer.worker);
      if (worker == nullptr || !worker->suspected) continue;
      absl::StrAppend(silent, silent->empty() ? "" : ", ", holder.peer.worker);
    }
  }
  return heard;
}

std::string Standings::AllDrain() const {
  std::vector<std::string> leaving;
  for (const auto& [life, replica] : job_.replicas.current()) {
    for (const SpanHolder& holder : replica.holders) {
      const Worker* worker = workers_.FindCurrent(holder.peer.worker);
      if (worker == nullptr || !worker->Leaves()) return "";
      leaving.push_back(holder.peer.worker);
    }
  }
  return absl::StrJoin(leaving, ", ");
}

void Standings::Pending() {
  if (job_.places.empty()) {
    const std::string why = WhyItWaits(job_, workers_, turn_, options_);
    // Workers of other jobs, or a quota, come free by themselves.
    const bool needs_help =
        turn_.held.empty() && turn_.before.empty() &&
        WorkersThere() < std::max<size_t>(1, job_.spec.placement.workers_min);
    return Stands(
        needs_help ? ConditionKind::kTooFewWorkers : ConditionKind::kQueued,
        absl::StrCat("waits as number ", turn_.position, " of ", turn_.length,
                     ": ", why),
        needs_help);
  }
  if (const std::string why = CheckpointFolderTrouble(job_); !why.empty()) {
    return Stands(ConditionKind::kCheckpointFolder, why, true);
  }
  const std::string trouble = TroubleText();
  const std::string why = trouble.empty() ? StartText() : trouble;
  if (!job_.Sized()) {
    return Stands(trouble.empty() ? ConditionKind::kStarting
                                  : ConditionKind::kWorkerTrouble,
                  absl::StrCat("trainers are starting", why), !trouble.empty());
  }
  Stands(trouble.empty() ? ConditionKind::kRecovering
                         : ConditionKind::kWorkerTrouble,
         absl::StrCat("workers are recovering the initial state", why),
         !trouble.empty());
}

void Standings::Finishing() {
  if (!job_.evaluator.empty()) {
    return Moves(
        absl::StrCat("worker ", job_.evaluator, " evaluates the final anchor"));
  }
  if (job_.evaluations.contains(job_.State()) || HasNoValidation(job_)) {
    return Moves(absl::StrCat(
        "every sample is committed; the final state is ",
        job_.saving.has_value()
            ? absl::StrCat("being saved by worker ", job_.saving->worker)
            : "not saved yet"));
  }
  Stands(ConditionKind::kNoEvaluator,
         "every sample is committed; no worker can evaluate");
}

void Standings::NoReplica() {
  const std::string trouble = TroubleText();
  const ConditionKind kind = trouble.empty() ? ConditionKind::kRecovering
                                             : ConditionKind::kWorkerTrouble;
  if (job_.places.empty() && job_.settling.empty()) {
    // Facts have come that are not decided on yet.
    if (turn_.held.empty() && IslandsThere() > 0) {
      return Stands(
          kind,
          absl::StrCat("no replica is admitted; workers are given places",
                       trouble),
          !trouble.empty());
    }
    return Stands(ConditionKind::kTooFewWorkers,
                  absl::StrCat("nobody trains it: ",
                               WhyItWaits(job_, workers_, turn_, options_)),
                  turn_.held.empty());
  }
  Stands(kind,
         absl::StrCat("no replica is admitted; workers are recovering; ",
                      PlacesText()),
         !trouble.empty());
}

void Standings::Replicas() {
  const size_t replicas = job_.replicas.current().size();
  std::string silent;
  if (CountHeard(&silent) == 0) {
    return Stands(
        ConditionKind::kSilent,
        absl::StrCat("every replica is silent; nothing is heard of ", silent),
        true);
  }
  if (const RoundMachine* machine = FirstOpen()) {
    std::string what = absl::StrCat(
        "exchange ", machine->open()->opened.sequence.value(),
        job_.fragments.size() == 1
            ? ""
            : absl::StrCat(" of fragment ", machine->fragment().value()),
        ", try ", machine->tries(), ": ", machine->open()->opened.reason);
    if (machine->tries() < kTriesMax) return Moves(std::move(what));
    return Stands(ConditionKind::kExchangeFails, std::move(what));
  }
  const size_t least = job_.spec.exchange.min_replicas;
  if (replicas < least) {
    const std::string never = WhyTooFewIslands(job_.spec, IslandsThere());
    if (!never.empty()) {
      return Stands(ConditionKind::kTooFewReplicas, never, true);
    }
    const std::string places = PlacesText();
    return Stands(ConditionKind::kTooFewReplicas,
                  absl::StrCat("exchange.min_replicas is ", least, " and ",
                               replicas, " replica(s) are admitted",
                               places.empty() ? "" : "; ", places));
  }
  if (const std::string leaving = AllDrain(); !leaving.empty()) {
    return Stands(ConditionKind::kDraining,
                  absl::StrCat("every replica drains: ", leaving,
                               " leave(s), and no other worker takes over"));
  }
  if (AwaitsJoiner(job_, options_, now_)) {
    return Stands(ConditionKind::kAwaitsJoiner,
                  absl::StrCat("commits pause so that a joiner can catch up; ",
                               PlacesText()));
  }
  Moves(absl::StrCat(replicas, " replica(s) compute"));
}

// A save that failed, of a job that still needs one.
void Standings::CheckpointTrouble() {
  if (!job_.spec.checkpoint.has_value()) return;
  if (job_.save_failure.has_value()) {
    const Checkpointed& failed = *job_.save_failure;
    const std::string newest =
        job_.checkpoints.empty()
            ? "there is no checkpoint"
            : absl::StrCat("the newest checkpoint is checkpoint-",
                           job_.checkpoints.back().sequence.value());
    standing_.conditions.push_back(
        {ConditionKind::kCheckpointFails,
         absl::StrCat("the state at sequence ", failed.sequence.value(),
                      " was not saved by worker ", failed.worker, ": ",
                      failed.error, "; ", newest),
         true});
  }
  if (job_.Ended()) return;
  for (const auto& [worker, seat] : job_.seats) {
    if (seat.facts.checkpoint_trouble.empty()) continue;
    standing_.conditions.push_back(
        {ConditionKind::kCheckpointFolder,
         absl::StrCat("worker ", worker, " cannot save checkpoints: ",
                      seat.facts.checkpoint_trouble),
         true});
  }
}

void Standings::WorkerTrouble() {
  if (job_.Ended()) return;
  for (const auto& [name, worker] : workers_.all()) {
    std::string why = WhyApart(workers_, worker);
    if (!IsAllowedOn(job_.spec, worker.island)) continue;
    if (why.empty()) why = WhyLeftOut(job_, workers_, worker);
    if (why.empty()) continue;
    standing_.conditions.push_back({ConditionKind::kWorkerTrouble,
                                    absl::StrCat("worker ", name, ": ", why),
                                    true});
  }
  for (const auto& [worker, seat] : job_.seats) {
    const std::string& what =
        seat.unfit.empty() ? seat.facts.error : seat.unfit;
    const std::string& said = what.empty() ? seat.facts.trainer_trouble : what;
    if (said.empty()) continue;
    standing_.conditions.push_back({ConditionKind::kWorkerTrouble,
                                    absl::StrCat("worker ", worker, ": ", said),
                                    true});
  }
}

Standing Standings::Explain() && {
  if (job_.Ended()) {
    Moves(job_.end_reason);
  } else if (job_.diverged.has_value()) {
    Stands(ConditionKind::kDiverged, DivergenceText(job_, workers_), true);
  } else if (job_.paused) {
    Stands(
        ConditionKind::kPaused,
        absl::StrCat("paused by the operator; ", job_.replicas.current().size(),
                     " replica(s) deliver what they owe and keep their "
                     "state"));
  } else if (const std::string lost = LostText(job_, workers_);
             !lost.empty() && job_.replicas.current().empty()) {
    Stands(ConditionKind::kSpansLost,
           absl::StrCat("no worker that is there holds ", lost,
                        "; waits for a disk that has them to come back",
                        OtherwiseBackTo(), TroubleText()),
           true);
  } else if (job_.phase == JobPhase::kPending) {
    Pending();
  } else if (job_.Trained()) {
    Finishing();
  } else if (job_.replicas.current().empty()) {
    NoReplica();
  } else {
    Replicas();
  }
  CheckpointTrouble();
  WorkerTrouble();
  return std::move(standing_);
}

}  // namespace

Standing StandingOf(const JobState& job, const WorkerTable& workers,
                    const ClusterOptions& options, const Turn& turn,
                    Instant now) {
  return Standings(job, workers, options, turn, now).Explain();
}

std::string WorkersText(size_t may, size_t wanted) {
  return absl::StrCat(may, " worker(s) may work on it and ", wanted,
                      may >= wanted ? " are enough" : " are needed");
}

}  // namespace skerry::coordinator
