#include "coordinator/core/rules/grants.h"

#include <algorithm>
#include <vector>

#include "coordinator/core/rules/offers.h"

namespace skerry::coordinator {
namespace {

constexpr uint64_t kRoundsAhead = 2;

// Samples of one inner step of the replica.
uint64_t StepSamples(const JobState& job, const Replica& replica) {
  return uint64_t{job.spec.training.batch_samples} * replica.holders.size();
}

uint64_t RoundSamples(const JobState& job, const Replica& replica) {
  return StepSamples(job, replica) *
         (job.spec.training.tau / FragmentCount(job.spec));
}

bool Draining(const JobState& job, Life life) {
  return job.draining.contains(life);
}

// Lives that are less than `ahead` rounds ahead, oldest first.
std::vector<Life> Needing(const JobState& job, const Decider& decider,
                          uint64_t ahead) {
  std::vector<Life> lives;
  for (const auto& [life, replica] : job.replicas.current()) {
    if (IsSuspected(replica, decider.workers) || Draining(job, life)) continue;
    if (UnreportedSamples(job, replica).total() <
        ahead * RoundSamples(job, replica)) {
      lives.push_back(life);
    }
  }
  return lives;
}

void GrantTo(JobState& job, const Decider& decider, Life life,
             uint64_t lives_left, uint64_t wanted) {
  const Replica& replica = *job.replicas.Find(life);
  uint64_t count = RoundSamples(job, replica);
  const uint64_t free = job.ledger.free().total();
  if (free < wanted) {
    const uint64_t step = StepSamples(job, replica);
    const uint64_t share = (free + lives_left - 1) / lives_left;
    count = std::min(count, (share + step - 1) / step * step);
  }
  const data::RangeSet picked = job.ledger.Pick(life, count);
  if (picked.empty()) return;
  decider.emit(Granted{job.id, life, picked});
}

// When nothing is left but samples that every replica has dropped before, one
// of them begins a new life, in which they are fresh to it.
void RenewForDropped(JobState& job, const Decider& decider) {
  if (job.ledger.free().empty()) return;
  Life renewed;
  for (const auto& [life, replica] : job.replicas.current()) {
    if (!job.ledger.Pick(life, 1).empty()) return;
    if (!job.ledger.LeasedTo(life).empty() || job.ledger.HasDue(life) ||
        HasPending(job, replica)) {
      return;
    }
    if (job.ledger.HasFreeDroppedBy(life)) renewed = life;
  }
  if (!renewed.is_set()) return;
  EndLife(job, decider, renewed,
          "what is left are samples that it has dropped; it starts anew to "
          "train on them");
}

}  // namespace

void DecideGrants(JobState& job, const Decider& decider) {
  if (job.paused) return;
  for (uint64_t ahead = 1; ahead <= kRoundsAhead; ++ahead) {
    const std::vector<Life> lives = Needing(job, decider, ahead);
    uint64_t wanted = 0;
    for (const Life life : lives) {
      wanted += RoundSamples(job, *job.replicas.Find(life));
    }
    for (size_t i = 0; i < lives.size(); ++i) {
      GrantTo(job, decider, lives[i], lives.size() - i, wanted);
      const uint64_t round = RoundSamples(job, *job.replicas.Find(lives[i]));
      wanted -= std::min(wanted, round);
    }
  }
  RenewForDropped(job, decider);
}

}  // namespace skerry::coordinator
