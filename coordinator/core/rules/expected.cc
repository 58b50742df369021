#include "coordinator/core/rules/expected.h"

#include "coordinator/core/rules/offers.h"

namespace skerry::coordinator {
namespace {

// Whether what it trains on now could still enter the attempt after the next.
bool MayComeLater(const JobState& job, const Replica& replica,
                  const RoundMachine& machine) {
  const uint64_t after_next = Next(machine.newest()).value();
  for (size_t rank = 0; rank < replica.holders.size(); ++rank) {
    const FragmentFacts* facts =
        FactsInLife(job, replica, rank, machine.fragment());
    if (facts == nullptr || facts->applied > machine.newest() ||
        after_next - facts->applied.value() > StalenessMax(job.spec)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Expected CountExpected(const JobState& job, const Decider& decider,
                       const RoundMachine& machine) {
  Expected expected;
  bool anyone_settled = false;
  for (const auto& [life, replica] : job.replicas.current()) {
    if (IsSuspected(replica, decider.workers)) continue;
    const bool settled = machine.OutcomeOf(life).has_value();
    anyone_settled |= settled;
    if (OfferKindOf(job, replica, machine) != Offer::Kind::kNone) {
      ++expected.replicas;
      continue;
    }
    if (ToDeliver(job, replica, machine).empty() ||
        WaitsElsewhere(job, replica, machine)) {
      continue;
    }
    // With several fragments everyone has to be at the same one.
    const bool newcomer = !settled && job.fragments.size() == 1 &&
                          MayComeLater(job, replica, machine);
    ++(newcomer ? expected.newcomers : expected.replicas);
  }
  // When all are new, nobody's rounds are the ones to fall in with.
  if (!anyone_settled) {
    expected.replicas += expected.newcomers;
    expected.newcomers = 0;
  }
  return expected;
}

}  // namespace skerry::coordinator
