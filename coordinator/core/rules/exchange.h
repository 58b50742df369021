// coordinator/core/rules/exchange.h
//
// Runs the exchanges of one job: when an attempt opens and with whom, and what
// becomes of it (PROTOCOL 5.1 to 5.4).
#ifndef SKERRY_COORDINATOR_CORE_RULES_EXCHANGE_H_
#define SKERRY_COORDINATOR_CORE_RULES_EXCHANGE_H_

#include "coordinator/core/rules/offers.h"
#include "coordinator/core/state/earliest.h"
#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

// Drops what is too old, judges the open attempt, or opens one.
void DecideExchange(JobState& job, const Decider& decider);

void CollectExchange(const JobState& job, Earliest& earliest);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_EXCHANGE_H_
