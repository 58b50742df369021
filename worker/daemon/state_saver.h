// worker/daemon/state_saver.h
//
// Saves a whole state of a job as a checkpoint when the coordinator orders it.
// Gathers the bases of all spans from here and from other workers, and has them
// written while training goes on.
#ifndef SKERRY_WORKER_DAEMON_STATE_SAVER_H_
#define SKERRY_WORKER_DAEMON_STATE_SAVER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "checkpoint/model_files.h"
#include "job/job_spec.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "worker/core/effects.h"

namespace skerry::worker {

using protocol::CheckpointFact;

// A whole state to be written.
struct StateToSave {
  JobId job;
  job::JobSpec spec;
  protocol::CheckpointOrder order;
  uint64_t elements = 0;
  std::vector<SharedBytes> pieces;  // by span
  // What the trainer of a job with a program says of its model; null in others.
  std::shared_ptr<const checkpoint::ProgramModel> program = nullptr;
  // The file of the trainer's inner state at the order's sequence; empty when
  // there is none.
  SharedBytes inner = {};
};

// Members are called on the loop, and so are the handlers.
class StateSaver {
 public:
  // Tries once to fetch a piece. `done` runs on the loop, unless the saver is
  // gone by then.
  using Fetch =
      absl::AnyInvocable<void(const std::string& worker, const PieceKey& key,
                              Done<absl::StatusOr<SharedBytes>>)>;
  // Runs on the loop, even if the saver is gone by then.
  using Written = absl::AnyInvocable<void(CheckpointFact) &&>;
  using Write = absl::AnyInvocable<void(StateToSave state, Written written)>;

  // `changed` runs when outcome() changes.
  StateSaver(JobId job, Fetch fetch, Write write,
             absl::AnyInvocable<void()> changed);

  // Called with every Orders. Starts the ordered save, unless it has an outcome
  // already or any save is under way. Without an order it forgets the last
  // failure, because the coordinator has heard of it. `elements` is the size of
  // the model. While it is 0, not known, nothing is started.
  void OnOrders(const protocol::JobOrders& orders, uint64_t elements);

  // The outcome of the newest order that was started. While it has neither hash
  // nor error, the save is under way.
  const std::optional<CheckpointFact>& outcome() const { return outcome_; }

 private:
  void Advance();
  // Fetches the piece. Every `attempt`, from 0, asks another holder.
  void FetchPiece(size_t span, size_t attempt);
  void WriteAll();
  void Finish(CheckpointFact outcome);

  const JobId job_;
  Fetch fetch_;
  Write write_;
  absl::AnyInvocable<void()> changed_;
  std::optional<CheckpointFact> outcome_;
  bool busy_ = false;
  job::JobSpec spec_;
  protocol::CheckpointOrder order_;
  uint64_t elements_ = 0;
  std::vector<SharedBytes> pieces_;
  size_t next_ = 0;
  int under_way_ = 0;
  absl::Status failure_;
  // Answers that come after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_STATE_SAVER_H_
