// worker/daemon/session_client.h
//
// Runs the worker's end of Control.Session: one stream to the coordinator,
// which is opened again whenever it breaks. Training never waits for it.
#ifndef SKERRY_WORKER_DAEMON_SESSION_CLIENT_H_
#define SKERRY_WORKER_DAEMON_SESSION_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "proto/skerry/v1/control.grpc.pb.h"
#include "runtime/event_loop.h"
#include "transport/grpc/credentials.h"

namespace skerry::worker {

struct SessionOptions {
  // host:port of the coordinator.
  std::string coordinator;
  std::shared_ptr<transport::Credentials> credentials =
      transport::Credentials::Plaintext();
  // The wait before the next try. It doubles from `backoff_min` to
  // `backoff_max`, and the real wait is drawn between half of it and all of it.
  absl::Duration backoff_min = absl::Milliseconds(50);
  absl::Duration backoff_max = absl::Seconds(1);
  uint64_t jitter_seed = 0;
  // Takes the mark of the coordinator's identity (identity_folder.h) each time
  // a stream is up, on a thread of gRPC. May be unset.
  std::function<void(std::string mark)> on_mark = {};
};

// How a stream ended. After Aborted or FailedPrecondition, trying again with
// the same boot or binary does not help.
struct SessionEnd {
  absl::Status status;
  // The stream before it ended with the same code and no orders have come
  // since: one more try of the same loss.
  bool repeated = false;
  // Reopen() has ended it.
  bool asked = false;
};

// Every member is called on `loop`, and so are the handlers.
class SessionClient {
 public:
  using OrdersHandler = absl::AnyInvocable<void(v1::Orders)>;
  using EndHandler = absl::AnyInvocable<void(SessionEnd)>;

  // `loop` outlives the client.
  SessionClient(SessionOptions options, runtime::EventLoop& loop,
                OrdersHandler on_orders, EndHandler on_end);
  // Call Shutdown first when a stream may be up.
  ~SessionClient();
  SessionClient(const SessionClient&) = delete;
  SessionClient& operator=(const SessionClient&) = delete;

  // Sends `status`, or remembers it until a stream is up; a newer one takes the
  // place of one that waits. The first call opens the stream.
  void Send(v1::Status status);

  // Ends the stream, so that what is sent from now on goes over a new one. The
  // end is told as that of every other stream.
  void Reopen();

  // Ends the stream for good; `done` runs when gRPC has let go of it.
  void Shutdown(absl::AnyInvocable<void() &&> done);

 private:
  class Stream;

  void Open();
  // Opens the next stream at `when`. Unless the channel is `connected` now, so
  // that the wait spares a coordinator that refuses, it opens the stream as
  // soon as the channel is: the channel paces its own tries to connect.
  void OpenAt(Instant when, bool connected);
  void Flush();
  void OnRead(v1::Orders orders);
  void OnWritten(bool ok);
  void OnDone(absl::Status status);

  const SessionOptions options_;
  runtime::EventLoop& loop_;
  OrdersHandler on_orders_;
  EndHandler on_end_;
  Random random_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Control::Stub> stub_;
  std::unique_ptr<Stream> stream_;
  bool writing_ = false;
  bool waiting_ = false;    // a timer will open the next stream
  bool reopening_ = false;  // the stream is ending because Reopen() wants it
  absl::Duration backoff_;
  // How the newest stream ended, unless orders have come since.
  std::optional<absl::StatusCode> lost_;
  std::optional<v1::Status> newest_;
  bool shutting_down_ = false;
  absl::AnyInvocable<void() &&> on_shut_down_;
  // Timers that fire after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_SESSION_CLIENT_H_
