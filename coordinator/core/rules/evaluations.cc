#include "coordinator/core/rules/evaluations.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/rules/anchor_check.h"
#include "coordinator/core/rules/checkpoints.h"

namespace skerry::coordinator {
namespace {

using protocol::EvaluationOrder;

constexpr uint64_t kFinalShare = 16;
// Leases that an evaluator has before another one is asked.
constexpr int64_t kPatienceLeases = 6;

bool IsEvaluated(const JobState& job, Sequence least) {
  return job.evaluations.lower_bound(least) != job.evaluations.end();
}

// The sequence that should be evaluated now; unset when none.
Sequence Wanted(const JobState& job) {
  if (HasNoValidation(job)) return {};
  const Sequence newest = job.State();
  if (!newest.is_set()) return {};
  Sequence wanted = newest;
  if (!job.Trained()) {
    // No worker has the anchors of all fragments while it trains.
    if (job.fragments.size() > 1) return {};
    const uint64_t every = *job.spec.training.evaluate_every;
    wanted = Sequence(newest.value() / every * every);
  }
  return wanted.is_set() && !IsEvaluated(job, wanted) ? wanted : Sequence();
}

// The worker's seat when it is there and can read the whole state; else null.
const Seat* SeatWithState(const JobState& job, const WorkerTable& workers,
                          std::string_view name) {
  const Worker* worker = workers.FindCurrent(name);
  if (worker == nullptr || worker->suspected) return nullptr;
  const Seat* seat = job.SeatOf(name, worker->incarnation);
  return seat != nullptr && HasWholeState(job, name, *seat) ? seat : nullptr;
}

bool CanEvaluate(const JobState& job, const WorkerTable& workers,
                 std::string_view name) {
  const Seat* seat = SeatWithState(job, workers, name);
  // In a job of an older journal only the trainers know of the split.
  return seat != nullptr && seat->facts.validation_samples != uint64_t{0};
}

std::vector<std::string> Evaluators(const JobState& job,
                                    const WorkerTable& workers) {
  std::vector<std::string> names;
  for (const auto& [life, replica] : job.replicas.current()) {
    const std::string& head = replica.holders[0].peer.worker;
    if (CanEvaluate(job, workers, head)) names.push_back(head);
  }
  if (!names.empty() || !job.Trained()) return names;
  for (const auto& [name, seat] : job.seats) {
    if (CanEvaluate(job, workers, name)) names.push_back(name);
  }
  return names;
}

void Assign(JobState& job, const Decider& decider, Sequence wanted) {
  const std::vector<std::string> names = Evaluators(job, decider.workers);
  const auto held = std::find(names.begin(), names.end(), job.evaluator);
  const bool patient =
      decider.now <
      job.evaluator_since + kPatienceLeases * decider.options.lease;
  if (job.evaluating == wanted && held != names.end() && patient) return;
  if (!job.evaluator.empty()) job.touched.insert(job.evaluator);
  size_t next = wanted.value();
  if (job.evaluating == wanted && held != names.end()) {
    next = static_cast<size_t>(held - names.begin()) + 1;
  }
  job.evaluator = names.empty() ? "" : names[next % names.size()];
  job.evaluating = names.empty() ? Sequence() : wanted;
  job.evaluator_since = decider.now;
  if (!job.evaluator.empty()) job.touched.insert(job.evaluator);
}

void Succeed(JobState& job, const Decider& decider, std::string_view how) {
  decider.emit(JobEnded{
      job.id, JobPhase::kSucceeded,
      absl::StrCat("all ", job.spec.training.samples,
                   " samples are committed in ", job.State().value(),
                   " exchanges; ", absl::string_view(how.data(), how.size()))});
}

// Says how a trained job ends; nothing while something is still waited for.
void DecideEnd(JobState& job, const Decider& decider) {
  const Sequence newest = job.State();
  const auto last = job.evaluations.find(newest);
  if (!job.final_since.has_value()) job.final_since = decider.now;
  std::string difference = DifferenceAtTheEnd(job, decider.workers);
  if (!difference.empty()) {
    decider.emit(JobEnded{job.id, JobPhase::kFailed, std::move(difference)});
    return;
  }
  if (decider.now < *job.final_since + decider.options.lease &&
      AwaitsLastAnchors(job, decider.workers)) {
    return;
  }
  const bool patient =
      decider.now < *job.final_since + decider.options.final_evaluation_max;
  if (last != job.evaluations.end() || HasNoValidation(job)) {
    if (patient && AwaitsCheckpoint(job)) return;
    Succeed(job, decider,
            HasNoValidation(job)
                ? job.spec.model.program.has_value()
                      ? "without evaluations, for the program evaluates nothing"
                      : "without evaluations, for the data have no validation "
                        "split of a whole sample"
                : absl::StrCat("final validation loss ", last->second.loss));
    return;
  }
  if (!job.evaluator.empty()) {
    job.final_alone_since.reset();
  } else if (!job.final_alone_since.has_value()) {
    job.final_alone_since = decider.now;
  }
  const bool alone =
      job.final_alone_since.has_value() &&
      *job.final_alone_since + decider.options.lease <= decider.now;
  // While it waits, what no disk has any more can come from a checkpoint.
  if (alone && !(patient && AwaitsCheckpoint(job))) {
    Succeed(job, decider, "no worker was there for a final evaluation");
  } else if (!patient) {
    Succeed(job, decider, "the final evaluation took too long");
  }
}

}  // namespace

bool HasNoValidation(const JobState& job) {
  return job.validation_samples == uint64_t{0};
}

void TakeEvaluations(JobState& job, const Decider& decider,
                     const JobFacts& facts) {
  if (job.Ended()) return;
  for (const protocol::EvaluationFact& fact : facts.evaluations) {
    if (!fact.sequence.is_set() || fact.sequence > job.State() ||
        job.evaluations.contains(fact.sequence)) {
      continue;
    }
    decider.emit(Evaluated{job.id, fact.sequence, fact.loss, fact.samples});
  }
}

void DecideEvaluations(JobState& job, const Decider& decider) {
  const Sequence wanted = Wanted(job);
  if (wanted.is_set()) {
    Assign(job, decider, wanted);
  } else {
    job.evaluator.clear();
    job.evaluating = Sequence();
  }
  if (job.Trained()) DecideEnd(job, decider);
}

void CollectEvaluations(const JobState& job, const ClusterOptions& options,
                        Earliest& earliest) {
  if (!job.evaluator.empty()) {
    earliest.Consider(job.evaluator_since + kPatienceLeases * options.lease);
  }
  if (job.final_alone_since.has_value()) {
    earliest.Consider(*job.final_alone_since + options.lease);
  }
  if (job.final_since.has_value()) {
    earliest.Consider(*job.final_since + options.lease);
    earliest.Consider(*job.final_since + options.final_evaluation_max);
  }
}

std::optional<EvaluationOrder> EvaluationOrderFor(const JobState& job,
                                                  std::string_view worker) {
  if (job.Ended() || !job.evaluating.is_set() || job.evaluator != worker) {
    return std::nullopt;
  }
  const uint64_t share = job.Trained() ? kFinalShare : 1;
  return EvaluationOrder{job.evaluating,
                         share * job.spec.training.evaluate_samples};
}

absl::StatusOr<std::string> FindWholeState(const JobState& job,
                                           const WorkerTable& workers) {
  if (job.spec.model.program.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "job ", job.spec.name, " trains the program ",
        job.spec.model.program->name, ", which does not generate"));
  }
  if (job.fragments.size() > 1 && !job.Trained()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "while job ", job.id.value(),
        " trains, no worker has the anchors of all its fragments; ask when "
        "every sample is committed"));
  }
  for (const auto& [name, seat] : job.seats) {
    if (SeatWithState(job, workers, name) != nullptr) return name;
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "no worker that is there holds the whole state of job ", job.id.value()));
}

bool HasWholeState(const JobState& job, std::string_view worker,
                   const Seat& seat) {
  const Replica* replica = CurrentReplicaOf(job, worker, seat.incarnation);
  if (replica != nullptr && seat.facts.life == replica->life) {
    return replica->RankOf(worker) == 0;
  }
  if (!job.Sized() || seat.facts.fragments.size() != job.fragments.size() ||
      !seat.unfit.empty()) {
    return false;
  }
  for (const FragmentFacts& facts : seat.facts.fragments) {
    if (facts.span_begin != 0 || facts.anchor_hashes.size() != job.span_count) {
      return false;
    }
  }
  return true;
}

}  // namespace skerry::coordinator
