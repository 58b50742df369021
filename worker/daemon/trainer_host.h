// worker/daemon/trainer_host.h
//
// Starts and describes one trainer process of one job. A host serves one run
// of the process. After a failure its owner makes another host.
#ifndef SKERRY_WORKER_DAEMON_TRAINER_HOST_H_
#define SKERRY_WORKER_DAEMON_TRAINER_HOST_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/skerry/v1/trainer.pb.h"
#include "runtime/event_loop.h"
#include "runtime/posix/process.h"
#include "runtime/posix/shared_memory.h"
#include "worker/core/trainer_watch.h"
#include "worker/daemon/trainer_client.h"

namespace skerry::worker {

struct TrainerHostOptions {
  // Program and flags; `--socket=PATH` is added.
  std::vector<std::string> command;
  // Folder for the socket; short, because a socket's path has at most 107
  // characters.
  std::string run_directory;
  // Names the socket and the shared memory; unique on this machine.
  std::string name;
  v1::JobSpec job;
  // A former trainer of this worker has verified the job's data.
  bool data_verified = false;
};

// Members are called on `loop`, and so are the handlers.
class TrainerHost {
 public:
  using ReadyHandler = absl::AnyInvocable<void(const v1::DescribeReply&) &&>;
  using FailedHandler = absl::AnyInvocable<void(absl::Status) &&>;

  // Starts the process. Either `on_failed` runs, once, at any time: the
  // process cannot be started, refused the job, has ended, or OnCallFailed()
  // was called; or nothing more happens. `on_ready` runs at most once and
  // before `on_failed`. `on_answer` runs when the trainer has answered and is
  // not ready yet.
  TrainerHost(TrainerHostOptions options, runtime::EventLoop& loop,
              ReadyHandler on_ready, FailedHandler on_failed,
              absl::AnyInvocable<void()> on_answer);
  // Kills the process.
  ~TrainerHost();
  // From here on no handler runs, although answers of the trainer may be on
  // their way. For an owner that cannot destroy the host yet.
  void Silence() { silent_ = true; }
  TrainerHost(const TrainerHost&) = delete;
  TrainerHost& operator=(const TrainerHost&) = delete;

  // Both are there once on_ready has run. The memory holds the flat model
  // state, one fp32 an element, and outlives the host with whoever keeps it.
  TrainerClient& client() { return *client_; }
  int pid() const { return process_->pid(); }
  // The trainer is of no use, mostly because a call has failed: on_failed runs
  // with `why`, or with how the process ended where `why` only says that the
  // connection broke.
  void OnCallFailed(const absl::Status& why);
  // Asks the trainer how far it is. Errors: Unavailable, it cannot be asked
  // now; Unimplemented, it does not know the question.
  using Progressed =
      absl::AnyInvocable<void(absl::StatusOr<TrainerProgress>) &&>;
  void AskProgress(Progressed done);
  const std::shared_ptr<runtime::SharedMemory>& memory() { return memory_; }

 private:
  void Start();
  v1::DescribeRequest Request() const;
  void OnSized(absl::StatusOr<v1::DescribeReply> reply);
  void FailAfter(absl::Duration wait, absl::Status status);
  void Fail(absl::Status status);

  const TrainerHostOptions options_;
  const std::string socket_path_;
  runtime::EventLoop& loop_;
  ReadyHandler on_ready_;
  FailedHandler on_failed_;
  absl::AnyInvocable<void()> on_answer_;
  std::unique_ptr<TrainerClient> client_;
  std::shared_ptr<runtime::SharedMemory> memory_;
  std::unique_ptr<runtime::Process> process_;
  // It has failed, or its owner has dropped it: no handler runs any more.
  bool silent_ = false;
  // Tasks that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_TRAINER_HOST_H_
