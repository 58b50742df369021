// worker/daemon/trainer_client.h
//
// Calls a trainer over a Unix socket (proto/skerry/v1/trainer.proto), and
// brings its answers to the loop.
#ifndef SKERRY_WORKER_DAEMON_TRAINER_CLIENT_H_
#define SKERRY_WORKER_DAEMON_TRAINER_CLIENT_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/skerry/v1/trainer.grpc.pb.h"
#include "runtime/event_loop.h"

namespace skerry::worker {

// Members are called on `loop`; every `done` runs on it, unless the client was
// destroyed first. Errors are the trainer's own, and Unavailable when the
// process is gone. Calls have no deadlines: how long they take depends on model
// and machine, and worker/core/trainer_watch.h watches the process instead.
class TrainerClient {
 public:
  template <typename Reply>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Reply>) &&>;

  // `socket_path` need not exist yet: Describe waits for it.
  TrainerClient(const std::string& socket_path, runtime::EventLoop& loop);
  ~TrainerClient();
  TrainerClient(const TrainerClient&) = delete;
  TrainerClient& operator=(const TrainerClient&) = delete;

  void Describe(v1::DescribeRequest request, Done<v1::DescribeReply> done);
  void Run(v1::RunRequest request, Done<v1::RunReply> done);
  void Snapshot(v1::SnapshotRequest request, Done<v1::SnapshotReply> done);
  void Load(v1::LoadRequest request, Done<v1::LoadReply> done);
  void OpenGroup(v1::OpenGroupRequest request, Done<v1::OpenGroupReply> done);
  void Group(v1::GroupRequest request, Done<v1::GroupReply> done);
  void Evaluate(v1::EvaluateRequest request, Done<v1::EvaluateReply> done);
  void Generate(v1::GenerateRequest request, Done<v1::GenerateReply> done);
  void SaveInner(v1::SaveInnerRequest request, Done<v1::SaveInnerReply> done);
  void LoadInner(v1::LoadInnerRequest request, Done<v1::LoadInnerReply> done);
  void Pause(Done<v1::PauseReply> done);
  void Progress(Done<v1::ProgressReply> done);
  void Exit(Done<v1::ExitReply> done);

 private:
  // Shared with the callbacks of calls in flight.
  struct Connection;

  std::shared_ptr<Connection> connection_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_TRAINER_CLIENT_H_
