#include "coordinator/core/rules/lost_history.h"

#include <vector>

namespace skerry::coordinator {

using protocol::KeptState;

KeptState KeptIn(const JobState& job, size_t fragment) {
  if (!job.adopted_at.is_set()) return {};
  return {job.fragments[fragment].floor(),
          fragment < job.kept_attempts.size() ? job.kept_attempts[fragment]
                                              : Attempt(),
          Attempt(job.adopted_at.value())};
}

void RemoveLost(const JobState& job, JobFacts& facts) {
  if (!job.adopted_at.is_set()) return;
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
