// coordinator/core/rules/retention.h
//
// Decides from which sequence workers keep bases and results (PROTOCOL 5.8),
// and which workers can serve what another one lacks.
#ifndef SKERRY_COORDINATOR_CORE_RULES_RETENTION_H_
#define SKERRY_COORDINATOR_CORE_RULES_RETENTION_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "coordinator/core/state/job_state.h"
#include "protocol/fragment_orders.h"

namespace skerry::coordinator {

// Returns the newest base that every worker of every current replica holds, or
// the oldest pin or the state that is being saved if that is lower. 0 keeps
// everything. Unset while any of these workers has not reported. Never below
// the state that the job went back to. While a recovering worker has not pinned
// a base yet, the result does not rise, because the worker is choosing among
// the bases that it was offered.
Sequence KeepFrom(const JobState& job, const WorkerTable& workers,
                  const ClusterOptions& options, FragmentId fragment);

// What the current workers can serve of one fragment. It stands until the job
// or the workers change.
class Servers {
 public:
  Servers(const JobState& job, const WorkerTable& workers, FragmentId fragment);

  // Returns at most `most` of those that have some of the spans [begin, end),
  // newest base first, and not `worker` itself. Base hashes are left out unless
  // `with_base`.
  std::vector<protocol::Source> For(std::string_view worker, uint32_t begin,
                                    uint32_t end, bool with_base,
                                    size_t most) const;

 private:
  struct Offer {
    // Without its hashes.
    protocol::Source source;
    const protocol::HeldBase* base = nullptr;
  };
  std::vector<Offer> offers_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_RETENTION_H_
