// coordinator/core/rules/evaluations.h
//
// Decides which worker evaluates which anchor, and when the job has succeeded.
// That is when every sample is committed and the last anchor has been
// evaluated, or nobody is there who could evaluate it.
#ifndef SKERRY_COORDINATOR_CORE_RULES_EVALUATIONS_H_
#define SKERRY_COORDINATOR_CORE_RULES_EVALUATIONS_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "coordinator/core/state/earliest.h"
#include "coordinator/core/state/job_state.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"

namespace skerry::coordinator {

// Whether the job's data have no validation split of a whole sample, so that
// nothing is evaluated. False while that is not known.
bool HasNoValidation(const JobState& job);
// Takes over what a current worker reports.
void TakeEvaluations(JobState& job, const Decider& decider,
                     const JobFacts& facts);

void DecideEvaluations(JobState& job, const Decider& decider);

void CollectEvaluations(const JobState& job, const ClusterOptions& options,
                        Earliest& earliest);

std::optional<protocol::EvaluationOrder> EvaluationOrderFor(
    const JobState& job, std::string_view worker);

// Whether the worker can read the whole state: it heads a current replica, or
// holds every span by itself at one sequence.
bool HasWholeState(const JobState& job, std::string_view worker,
                   const Seat& seat);
// A worker that is there and can generate from the whole state. Errors:
// FailedPrecondition when none can, as while a job of several fragments trains,
// or when the job trains a program.
absl::StatusOr<std::string> FindWholeState(const JobState& job,
                                           const WorkerTable& workers);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_EVALUATIONS_H_
