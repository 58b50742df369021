// coordinator/core/rules/offers.h
//
// Lists what replicas offer to the next sequence of a fragment, and what they
// may still offer.
#ifndef SKERRY_COORDINATOR_CORE_RULES_OFFERS_H_
#define SKERRY_COORDINATOR_CORE_RULES_OFFERS_H_

#include "coordinator/core/state/job_state.h"

namespace skerry::coordinator {

using protocol::Contribution;

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
Offer::Kind OfferKindOf(const JobState& job, const Replica& replica,
                        const RoundMachine& machine);

// Whether anything of the replica waits for its outcome.
bool HasPending(const JobState& job, const Replica& replica);

// Samples leased to the replica that it has not reported yet.
data::RangeSet UnreportedSamples(const JobState& job, const Replica& replica);

// Samples that a contribution of the fragment may cover and none does yet.
data::RangeSet ToDeliver(const JobState& job, const Replica& replica,
                         const RoundMachine& machine);

// Whether the replica comes to no boundary of this fragment before it has the
// outcome of a contribution to another one.
bool WaitsElsewhere(const JobState& job, const Replica& replica,
                    const RoundMachine& machine);

// Whether it waits for an exchange of another fragment that nobody has opened,
// while others wait for it in this one.
bool IsWanted(const JobState& job, const Replica& replica,
              const RoundMachine& machine);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_OFFERS_H_
