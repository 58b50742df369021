// worker/daemon/state_saver.h
//
// Saves a whole state of a job as a checkpoint when the coordinator says so:
// gathers the bases of all spans, from here and from other workers, and writes
// them beside training, on a thread of their own.
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
#include "proto/skerry/v1/control.pb.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/files.h"
#include "worker/core/effects.h"

namespace skerry::worker {

// Members are called on the loop, and so are the handlers.
class StateSaver {
 public:
  // One try. `done` runs on the loop, unless the saver is gone by then.
  using Fetch =
      absl::AnyInvocable<void(const std::string& address, const PieceKey& key,
                              Done<absl::StatusOr<SharedBytes>>)>;

  // What is borrowed outlives the object, `executor` and `files` also the task
  // that it has given to the executor. `changed` runs when outcome() does.
  StateSaver(JobId job, runtime::EventLoop& loop, runtime::Executor& executor,
             runtime::Files& files, Fetch fetch,
             absl::AnyInvocable<void()> changed);

  // From every Orders. Starts what is ordered, unless that is done or under
  // way, or something else is; forgets a failure that the coordinator has
  // heard of. `elements`: of the model; 0 while that is not known, and then
  // nothing is started.
  void OnOrders(const v1::JobOrders& orders, uint64_t elements);

  // Of the newest order; without hash and error it is under way.
  const std::optional<v1::CheckpointOutcome>& outcome() const {
    return outcome_;
  }

 private:
  void Advance();
  // From the holder that is tried as number `attempt`.
  void FetchPiece(int span, int attempt);
  void Write();
  void Finish(v1::CheckpointOutcome outcome);

  const JobId job_;
  runtime::EventLoop& loop_;
  runtime::Executor& executor_;
  runtime::Files& files_;
  Fetch fetch_;
  absl::AnyInvocable<void()> changed_;
  std::optional<v1::CheckpointOutcome> outcome_;
  bool busy_ = false;
  v1::JobSpec spec_;
  v1::CheckpointOrder order_;
  uint64_t elements_ = 0;
  std::vector<SharedBytes> pieces_;
  int next_ = 0;
  int under_way_ = 0;
  absl::Status failure_;
  // Answers that come after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// A whole state to be written.
struct StateToSave {
  JobId job;
  v1::JobSpec spec;
  v1::CheckpointOrder order;
  uint64_t elements = 0;
  std::vector<SharedBytes> pieces;  // by span
};

// Writes and verifies the checkpoint, then removes those that are too many. One
// that is there already is verified. Blocks.
v1::CheckpointOutcome SaveState(const StateToSave& state,
                                runtime::Files& files);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_STATE_SAVER_H_
