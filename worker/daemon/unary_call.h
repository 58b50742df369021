// worker/daemon/unary_call.h
//
// Makes a unary RPC whose answer arrives on a loop.
#ifndef SKERRY_WORKER_DAEMON_UNARY_CALL_H_
#define SKERRY_WORKER_DAEMON_UNARY_CALL_H_

#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/event_loop.h"

namespace skerry::worker {

struct UnaryCallOptions {
  // None: the call may take any time; something else watches the server.
  std::optional<absl::Duration> deadline;
  // Wait for a server that is not there yet instead of failing.
  bool wait_for_ready = false;
};

// Calls `method` on `async` and runs `done` on `loop` with the answer, unless
// `owner` is gone by then. `async` and `loop` outlive the call. Returns its
// context, by which it can be cancelled while it lasts.
template <typename Async, typename Request, typename Reply, typename Owner>
std::weak_ptr<grpc::ClientContext> StartUnaryCall(
    Async* async,
    void (Async::*method)(grpc::ClientContext*, const Request*, Reply*,
                          std::function<void(grpc::Status)>),
    Request request, const UnaryCallOptions& options, runtime::EventLoop& loop,
    std::weak_ptr<Owner> owner,
    absl::AnyInvocable<void(absl::StatusOr<Reply>) &&> done) {
  // gRPC borrows all of it until the answer is here.
  struct Call {
    grpc::ClientContext context;
    Request request;
    Reply reply;
    absl::AnyInvocable<void(absl::StatusOr<Reply>) &&> done;
  };
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->done = std::move(done);
  call->context.set_wait_for_ready(options.wait_for_ready);
  if (options.deadline.has_value()) {
    // A span, not a time: gRPC adds it to its own clock.
    call->context.set_deadline(gpr_time_from_millis(
        absl::ToInt64Milliseconds(*options.deadline), GPR_TIMESPAN));
  }
  const std::shared_ptr<grpc::ClientContext> context(call, &call->context);
  (async->*method)(&call->context, &call->request, &call->reply,
                   [call, owner, &loop](grpc::Status status) mutable {
                     // The loop lets go of it: it may have the process's last
                     // channel, with which gRPC's thread of callbacks ends.
                     loop.Post([call = std::move(call), owner, status] {
                       if (owner.expired()) return;
                       if (status.ok()) {
                         std::move(call->done)(std::move(call->reply));
                       } else {
                         std::move(call->done)(absl::Status(
                             static_cast<absl::StatusCode>(status.error_code()),
                             status.error_message()));
                       }
                     });
                   });
  return context;
}

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_UNARY_CALL_H_
