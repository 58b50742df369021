// coordinator/core/exchange.h
//
// The round of one job: which contributions are offered, when an attempt opens
// and with whom, what it becomes (PROTOCOL 5.1 to 5.4).
#ifndef SKERRY_COORDINATOR_CORE_EXCHANGE_H_
#define SKERRY_COORDINATOR_CORE_EXCHANGE_H_

#include "coordinator/core/earliest.h"
#include "coordinator/core/job_state.h"

namespace skerry::coordinator {

struct Offer {
  enum class Kind {
    kNone,      // no worker has an undecided contribution
    kPartial,   // not all workers have reported it yet
    kConflict,  // they report different things under one number
    kComplete,
  };
  Kind kind = Kind::kNone;
  // kComplete: of the whole replica. kPartial and kConflict: of the first rank
  // that has one.
  Contribution contribution;
};

// What a replica offers that was neither committed nor dropped yet.
Offer OfferOf(const JobState& job, const Replica& replica,
              const RoundMachine& machine);

// Whether anything of the replica waits for its outcome.
bool HasPending(const JobState& job, const Replica& replica);

// Samples leased to the replica that it has not reported yet.
data::RangeSet UnreportedSamples(const JobState& job, const Replica& replica);

// Drops what is too old, judges the open attempt, or opens one.
void DecideExchange(JobState& job, const Decider& decider);

void CollectExchange(const JobState& job, Earliest& earliest);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_EXCHANGE_H_
