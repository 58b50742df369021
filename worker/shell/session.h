// worker/shell/session.h
//
// Runs the worker's end of the session with the coordinator: one stream at a
// time, which is opened again whenever it ends. Training never waits for it.
#ifndef SKERRY_WORKER_SHELL_SESSION_H_
#define SKERRY_WORKER_SHELL_SESSION_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"
#include "protocol/heard_orders.h"
#include "protocol/status_facts.h"
#include "runtime/event_loop.h"

namespace skerry::worker {

// The connection to the coordinator. It has at most one stream at a time.
// Members are called on the loop.
class SessionPort {
 public:
  // Hears what the stream does, on the loop and never inside a call of the
  // port.
  class Events {
   public:
    virtual ~Events() = default;
    virtual void OnOrders(protocol::HeardOrders orders) = 0;
    // The Status has left. After one that could not leave, OnEnd() follows
    // instead.
    virtual void OnWritten() = 0;
    // The stream is gone, and the next one may be opened.
    virtual void OnEnd(absl::Status status) = 0;
  };

  virtual ~SessionPort() = default;
  // Requires: there is no stream. `events` outlives the stream.
  virtual void Open(Events& events) = 0;
  // Requires: there is a stream, and what was written before has left.
  virtual void Write(const protocol::StatusFacts& status) = 0;
  // Requires: there is a stream. It ends soon.
  virtual void Cancel() = 0;
  // Whether the coordinator's machine could be reached just now. If not, the
  // port tries to connect, at its own pace.
  virtual bool IsConnected() = 0;
};

// The wait before the next try. It doubles from `backoff_min` to `backoff_max`,
// and the real wait is drawn between half of it and all of it.
struct SessionOptions {
  absl::Duration backoff_min = absl::Milliseconds(50);
  absl::Duration backoff_max = absl::Seconds(1);
  uint64_t jitter_seed = 0;
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
class Session final : SessionPort::Events {
 public:
  using OrdersHandler = absl::AnyInvocable<void(protocol::HeardOrders)>;
  using EndHandler = absl::AnyInvocable<void(SessionEnd)>;

  // `loop` and `port` outlive the session.
  Session(const SessionOptions& options, runtime::EventLoop& loop,
          SessionPort& port, OrdersHandler on_orders, EndHandler on_end);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Sends `status`, or remembers it until a stream is up; a newer one takes the
  // place of one that waits. The first call opens the stream.
  void Send(protocol::StatusFacts status);

  // Ends the stream, so that what is sent from now on goes over a new one. The
  // end is told as that of every other stream.
  void Reopen();

  // Ends the stream for good; `done` runs when the port has let go of it.
  void Shutdown(absl::AnyInvocable<void() &&> done);

 private:
  void Open();
  // Opens the next stream at `when`. Unless the port is `connected` now, so
  // that the wait spares a coordinator that refuses, it opens the stream as
  // soon as the port is: the port paces its own tries to connect.
  void OpenAt(Instant when, bool connected);
  void Flush();

  // SessionPort::Events.
  void OnOrders(protocol::HeardOrders orders) override;
  void OnWritten() override;
  void OnEnd(absl::Status status) override;

  const SessionOptions options_;
  runtime::EventLoop& loop_;
  SessionPort& port_;
  OrdersHandler on_orders_;
  EndHandler on_end_;
  Random random_;
  bool open_ = false;  // there is a stream
  bool writing_ = false;
  bool waiting_ = false;    // a timer will open the next stream
  bool reopening_ = false;  // the stream is ending because Reopen() wants it
  absl::Duration backoff_;
  // How the newest stream ended, unless orders have come since.
  std::optional<absl::StatusCode> lost_;
  std::optional<protocol::StatusFacts> newest_;
  bool shutting_down_ = false;
  absl::AnyInvocable<void() &&> on_shut_down_;
  // Timers that fire after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_SESSION_H_
