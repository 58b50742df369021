// worker/daemon/join.h
//
// Gets the worker its certificates: the first one with a token, and the next
// ones over the running connection.
#ifndef SKERRY_WORKER_DAEMON_JOIN_H_
#define SKERRY_WORKER_DAEMON_JOIN_H_

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/skerry/v1/join.pb.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/files.h"
#include "runtime/posix/mutex.h"

namespace skerry::worker {

struct JoinOptions {
  // host:port
  std::string coordinator;
  // sha256:HEX
  std::string ca_pin;
  std::string token_file;
  std::string name;
  std::string island;
  // Where key and certificates are kept.
  std::string folder;
  std::function<absl::Time()> wall;
  // Waits for so long; false: the process is to stop.
  std::function<bool(absl::Duration)> wait;
};

// One attempt. Errors: those of the service Join.
using AskToJoin =
    std::function<absl::StatusOr<v1::JoinReply>(const v1::JoinRequest&)>;
// An attempt by TLS at the coordinator of the options. Errors also:
// Unauthenticated, who answers there is not the pinned coordinator.
AskToJoin AskPinned(const JoinOptions& options);

// Returns when the folder holds a certificate for the worker that is valid now.
// Without one it asks with the token, again while the coordinator cannot be
// reached, and again when the token's file has changed after a refusal. Each
// refusal is logged in one line.
//
// Errors: Cancelled, the process is to stop; AlreadyExists, the name belongs to
// another key; FailedPrecondition, in one line: the folder is another worker's
// or is damaged, or the coordinator is not the pinned one or lets nobody join.
absl::Status Join(const JoinOptions& options, const AskToJoin& ask,
                  runtime::Files& files);

// The coordinator's mark (identity_folder.h), as it has last told it. Any
// thread.
class IdentityMark {
 public:
  void Set(std::string mark);
  // Empty while it has told none.
  std::string Get() const;

 private:
  mutable runtime::Mutex mutex_;
  std::string mark_ ABSL_GUARDED_BY(mutex_);
};

// Writes another certificate into the folder if the one in it is due for it, or
// if `mark` is the coordinator's and the identity has another one: its CA was
// replaced or retired. The channel is one on which the coordinator knows the
// worker. Returns whether it did. Errors: those of the service and of the disk.
absl::StatusOr<bool> RenewIfDue(const std::string& folder, absl::Time now,
                                const std::string& mark,
                                const std::shared_ptr<grpc::Channel>& channel,
                                runtime::Files& files);

struct RenewalOptions {
  // As of RenewIfDue. The credentials that are in use see new files by
  // themselves.
  std::string folder;
  std::shared_ptr<grpc::Channel> channel;
  std::function<absl::Time()> wall;
  std::shared_ptr<const IdentityMark> mark;
};

// Calls RenewIfDue() on `disk` every ten seconds for as long as the loop runs,
// and a second from now for the first time, because a worker that comes back
// may have little time left. Failures are logged. Called on the loop; `files`
// outlives `disk`.
void KeepRenewing(const RenewalOptions& options, runtime::EventLoop& loop,
                  runtime::Executor& disk, runtime::Files& files);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_JOIN_H_
