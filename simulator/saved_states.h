// simulator/saved_states.h
//
// The folder of checkpoints that all workers of a simulation use. It has whole
// states of jobs, and outlives every disk.
#ifndef SKERRY_SIMULATOR_SAVED_STATES_H_
#define SKERRY_SIMULATOR_SAVED_STATES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/shared_bytes.h"
#include "coordinator/core/log/records.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "worker/core/effects.h"
#include "worker/daemon/state_saver.h"
#include "worker/shell/job_ports.h"

namespace skerry::sim {

class SavedStates {
 public:
  // Saves as the daemon does. The pieces must be those that the order names. A
  // checkpoint that is there already must be the same. Old checkpoints go.
  protocol::CheckpointFact Save(const worker::StateToSave& state);

  // Without tensors. Errors: NotFound; DataLoss, it is another one.
  absl::StatusOr<worker::StartingBase> Read(
      JobId job, uint32_t fragments,
      const protocol::RestoredState& wanted) const;

  // As its manifest describes it; none when there is none.
  std::optional<coordinator::Checkpointed> Newest(JobId job) const;

 private:
  struct State {
    std::string sha256;
    data::RangeSet consumed;
    uint64_t bytes = 0;
    std::vector<uint64_t> hashes;
    std::vector<SharedBytes> pieces;
  };
  // That of the order and those that it pins stay.
  void KeepNewest(JobId job, const job::JobSpec& spec,
                  const protocol::CheckpointOrder& order);

  std::map<std::pair<JobId, uint64_t>, State> states_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_SAVED_STATES_H_
