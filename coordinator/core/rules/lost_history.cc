#include "coordinator/core/rules/lost_history.h"

#include <vector>

namespace skerry::coordinator {

using protocol::KeptState;

KeptState KeptIn(const JobState& job, size_t fragment) {
  if (!job.adopted.has_value()) return {};
  const std::vector<Attempt>& attempts = job.adopted->fragment_attempts;
  return {job.adopted->fragment_sequences[fragment],
          fragment < attempts.size() ? attempts[fragment] : Attempt(),
          Attempt(job.adopted_at.value())};
}

void RemoveLost(const JobState& job, JobFacts& facts) {
  if (!job.adopted.has_value()) return;
  for (FragmentFacts& fragment : facts.fragments) {
    if (fragment.fragment.value() >= job.fragments.size()) continue;
    const KeptState kept = KeptIn(job, fragment.fragment.value());
    std::erase_if(fragment.bases, [&kept](const protocol::HeldBase& base) {
      return IsLost(kept, base.sequence, base.attempt);
    });
    if (!IsLost(kept, fragment.applied, fragment.applied_attempt)) continue;
    fragment.applied = Sequence();
    fragment.applied_attempt = Attempt();
    fragment.anchor_hashes.clear();
    fragment.stored_through = Sequence();
    fragment.first_result_kept = Sequence();
  }
}

}  // namespace skerry::coordinator
