// worker/shell/trainer_watcher.h
//
// Asks the trainer of a job how far it is, and has it ended when it does not go
// on.
#ifndef SKERRY_WORKER_SHELL_TRAINER_WATCHER_H_
#define SKERRY_WORKER_SHELL_TRAINER_WATCHER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/event_loop.h"
#include "worker/core/trainer_watch.h"
#include "worker/shell/job_ports.h"

namespace skerry::worker {

// Members are called on the loop, and so is the handler.
class TrainerWatcher {
 public:
  // `on_trouble` runs when Trouble() has become empty, or is no longer. `loop`
  // and `trainer` outlive the object.
  TrainerWatcher(const TrainerWatchOptions& options, runtime::EventLoop& loop,
                 ProcessPort& trainer, absl::AnyInvocable<void()> on_trouble);

  // A process was started. Its steps may take as long as those of the one
  // before.
  void Begin();
  // The process is gone, or is to go.
  void End();
  // The process has answered another call.
  void OnAnswer();
  // Why the process may have to be ended soon; empty while it goes on.
  std::string Trouble() const;
  // How long the process may wait for the others of its group.
  absl::Duration GroupTimeout() const { return watch_->GroupTimeout(); }

 private:
  void Look();
  void OnProgress(const absl::StatusOr<TrainerProgress>& progress);

  const TrainerWatchOptions options_;
  runtime::EventLoop& loop_;
  ProcessPort& trainer_;
  absl::AnyInvocable<void()> on_trouble_;
  // The newest process is watched by it.
  std::optional<TrainerWatch> watch_;
  bool asked_ = false;     // and not answered yet
  bool troubled_ = false;  // at the last look
  // Replaced by Begin(), null after End(): looks at a former process and
  // answers of it see it expired.
  std::shared_ptr<char> current_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_TRAINER_WATCHER_H_
