#include "worker/shell/session.h"

#include <algorithm>
#include <utility>

namespace skerry::worker {
namespace {

// How soon a connection that is back is seen.
constexpr absl::Duration kLookEvery = absl::Milliseconds(50);

}  // namespace

Session::Session(const SessionOptions& options, runtime::EventLoop& loop,
                 SessionPort& port, OrdersHandler on_orders, EndHandler on_end)
    : options_(options),
      loop_(loop),
      port_(port),
      on_orders_(std::move(on_orders)),
      on_end_(std::move(on_end)),
      random_(options_.jitter_seed),
      backoff_(options_.backoff_min) {}

void Session::Send(protocol::StatusFacts status) {
  newest_ = std::move(status);
  if (shutting_down_) return;
  if (!open_ && !waiting_) Open();
  Flush();
}

void Session::Reopen() {
  if (!open_ || std::exchange(reopening_, true)) return;
  port_.Cancel();
}

void Session::Shutdown(absl::AnyInvocable<void() &&> done) {
  shutting_down_ = true;
  on_shut_down_ = std::move(done);
  if (!open_) return std::move(on_shut_down_)();
  port_.Cancel();
}

void Session::Open() {
  writing_ = false;
  open_ = true;
  port_.Open(*this);
}

void Session::OpenAt(Instant when, bool connected) {
  const Instant look =
      connected ? when : std::min(when, loop_.Now() + kLookEvery);
  loop_.RunAt(look, [this, when, connected,
                     alive = std::weak_ptr<char>(alive_)] {
    if (alive.expired()) return;
    const bool came_back = !connected && !shutting_down_ && port_.IsConnected();
    if (loop_.Now() < when && !came_back && !shutting_down_) {
      return OpenAt(when, connected);
    }
    waiting_ = false;
    if (shutting_down_ || open_) return;
    Open();
    Flush();
  });
}

void Session::Flush() {
  if (!open_ || writing_ || reopening_ || !newest_.has_value()) return;
  writing_ = true;
  port_.Write(*std::exchange(newest_, std::nullopt));
}

void Session::OnOrders(protocol::HeardOrders orders) {
  backoff_ = options_.backoff_min;
  lost_.reset();
  if (!shutting_down_ && !reopening_) on_orders_(std::move(orders));
}

void Session::OnWritten() {
  writing_ = false;
  Flush();
}

void Session::OnEnd(absl::Status status) {
  open_ = false;
  writing_ = false;
  const bool asked = std::exchange(reopening_, false);
  if (shutting_down_) return std::move(on_shut_down_)();
  const absl::Duration wait = backoff_ * (0.5 + 0.5 * random_.Uniform());
  backoff_ = std::min(2 * backoff_, options_.backoff_max);
  waiting_ = true;
  OpenAt(loop_.Now() + wait, port_.IsConnected());
  // The handler sends a fresh view; what waited is superseded by it.
  const bool repeated = std::exchange(lost_, status.code()) == status.code();
  on_end_({std::move(status), repeated, asked});
}

}  // namespace skerry::worker
