#include "coordinator/core/rules/offers.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "optimizer/outer/outer.h"

namespace skerry::coordinator {
namespace {

Round DecidedRound(const RoundMachine& machine, Life life) {
  const auto outcome = machine.OutcomeOf(life);
  return outcome.has_value() ? outcome->round : Round();
}

bool SameOffer(const Contribution& a, const Contribution& b) {
  return a.round == b.round && a.base == b.base && a.weight == b.weight &&
         a.ranges == b.ranges;
}

// What the workers of a replica offer, by rank.
using Parts = absl::InlinedVector<const Contribution*, 4>;

Parts PartsOf(const JobState& job, const Replica& replica,
              const RoundMachine& machine) {
  const Round decided = DecidedRound(machine, replica.life);
  Parts parts;
  for (size_t rank = 0; rank < replica.holders.size(); ++rank) {
    const FragmentFacts* facts =
        FactsInLife(job, replica, rank, machine.fragment());
    if (facts == nullptr || !facts->ready.has_value() ||
        facts->ready->round <= decided) {
      continue;
    }
    parts.push_back(&*facts->ready);
  }
  return parts;
}

Offer::Kind KindOf(const Parts& parts, const Replica& replica) {
  if (parts.empty()) return Offer::Kind::kNone;
  bool same_round = parts.size() == replica.holders.size();
  bool same = true;
  for (size_t i = 1; i < parts.size(); ++i) {
    same_round &= parts[i]->round == parts[0]->round;
    same &= SameOffer(*parts[i], *parts[0]);
  }
  if (!same_round) return Offer::Kind::kPartial;
  return same ? Offer::Kind::kComplete : Offer::Kind::kConflict;
}

// Mean loss of equal shares if all measured one, one time for the slowest, one
// norm of all spans.
RoundScalars Combined(const Parts& parts) {
  RoundScalars sum = parts.front()->scalars;
  sum.loss = 0;
  sum.delta_squared_norm = 0;
  for (const Contribution* part : parts) {
    sum.loss += part->scalars.loss / static_cast<double>(parts.size());
    sum.no_loss |= part->scalars.no_loss;
    sum.delta_squared_norm += part->scalars.delta_squared_norm;
    sum.compute_s = std::max(sum.compute_s, part->scalars.compute_s);
  }
  if (sum.no_loss) sum.loss = 0;
  return sum;
}

// Without what the open attempt names and the replica offers.
data::RangeSet WithoutReported(const JobState& job, const Replica& replica,
                               const RoundMachine& machine,
                               data::RangeSet samples) {
  if (machine.open().has_value()) {
    if (const Member* member = machine.open()->FindLife(replica.life)) {
      samples = samples.Subtract(member->contribution.ranges);
    }
  }
  const Offer offer = OfferOf(job, replica, machine);
  if (offer.kind == Offer::Kind::kNone) return samples;
  return samples.Subtract(offer.contribution.ranges);
}

bool IsUndelayed(const JobState& job, FragmentId fragment) {
  return OuterDelay(job.spec) == 0 ||
         optimizer::DelayAt(OuterOptionsOf(job.spec),
                            job.coverage.Of(fragment).total(),
                            job.spec.training.samples) == 0;
}

}  // namespace

Offer OfferOf(const JobState& job, const Replica& replica,
              const RoundMachine& machine) {
  const Parts parts = PartsOf(job, replica, machine);
  Offer offer{KindOf(parts, replica), {}};
  if (offer.kind == Offer::Kind::kNone) return offer;
  offer.contribution = *parts.front();
  if (offer.kind != Offer::Kind::kPartial) {
    offer.contribution.scalars = Combined(parts);
  }
  return offer;
}

Offer::Kind OfferKindOf(const JobState& job, const Replica& replica,
                        const RoundMachine& machine) {
  return KindOf(PartsOf(job, replica, machine), replica);
}

bool HasPending(const JobState& job, const Replica& replica) {
  for (const RoundMachine& machine : job.fragments) {
    if (machine.open().has_value() &&
        machine.open()->FindLife(replica.life) != nullptr) {
      return true;
    }
    if (OfferKindOf(job, replica, machine) != Offer::Kind::kNone) return true;
  }
  return false;
}

data::RangeSet UnreportedSamples(const JobState& job, const Replica& replica) {
  data::RangeSet samples = job.ledger.LeasedTo(replica.life)
                               .Subtract(job.ledger.Missed(replica.life));
  for (const RoundMachine& machine : job.fragments) {
    samples = WithoutReported(job, replica, machine, std::move(samples));
  }
  return samples;
}

data::RangeSet ToDeliver(const JobState& job, const Replica& replica,
                         const RoundMachine& machine) {
  return WithoutReported(
      job, replica, machine,
      job.ledger.Deliverable(replica.life, machine.fragment()));
}

bool WaitsElsewhere(const JobState& job, const Replica& replica,
                    const RoundMachine& machine) {
  for (const RoundMachine& other : job.fragments) {
    if (other.fragment() == machine.fragment()) continue;
    if (IsUndelayed(job, other.fragment()) &&
        OfferKindOf(job, replica, other) != Offer::Kind::kNone) {
      return true;
    }
  }
  return false;
}

bool IsWanted(const JobState& job, const Replica& replica,
              const RoundMachine& machine) {
  if (machine.open().has_value() ||
      OfferKindOf(job, replica, machine) != Offer::Kind::kNone ||
      !WaitsElsewhere(job, replica, machine)) {
    return false;
  }
  for (const RoundMachine& other : job.fragments) {
    if (other.open().has_value() &&
        other.open()->FindLife(replica.life) != nullptr) {
      return false;
    }
  }
  for (const auto& [life, other] : job.replicas.current()) {
    if (life != replica.life &&
        OfferKindOf(job, other, machine) == Offer::Kind::kComplete) {
      return true;
    }
  }
  return false;
}

}  // namespace skerry::coordinator
