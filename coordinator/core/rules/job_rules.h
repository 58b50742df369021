// coordinator/core/rules/job_rules.h
//
// Makes one job's decisions, in this order: it takes in what a worker says,
// then decides membership, samples, the exchange, evaluations and the end. It
// repeats this until nothing more follows.
#ifndef SKERRY_COORDINATOR_CORE_RULES_JOB_RULES_H_
#define SKERRY_COORDINATOR_CORE_RULES_JOB_RULES_H_

#include <string>

#include "coordinator/core/state/earliest.h"
#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

// What a current worker's newest Status says of the job; null when it does not
// mention it. Answers whether anything changed that decisions read.
bool HearSeat(JobState& job, const std::string& worker, Incarnation incarnation,
              const JobFacts* facts, const ClusterOptions& options);

// The replay of the job's records is over.
void JobRecovered(JobState& job, const ClusterOptions& options, Instant now);

// What became of what the worker was asked for, and its totals.
void TakeFacts(JobState& job, const Decider& decider, const std::string& worker,
               const JobFacts& facts);

void DecideJob(JobState& job, const Decider& decider);

void CollectJob(const JobState& job, const ClusterOptions& options,
                Earliest& earliest);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_JOB_RULES_H_
