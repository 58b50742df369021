// worker/daemon/peer_tries.h
//
// Dials the workers that the coordinator's orders name for it, and keeps what
// the coordinator is told of the outcomes.
#ifndef SKERRY_WORKER_DAEMON_PEER_TRIES_H_
#define SKERRY_WORKER_DAEMON_PEER_TRIES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "protocol/orders.h"
#include "protocol/reach.h"
#include "runtime/event_loop.h"
#include "runtime/metrics.h"
#include "worker/core/reach/try_book.h"

namespace skerry::worker {

// Dials a worker at its endpoints in turn. `done` gets the milliseconds of a
// round trip, or why no endpoint answered as that worker. It runs on the loop.
using DialPeer = std::function<void(
    const protocol::TryOrder& order,
    absl::AnyInvocable<void(absl::StatusOr<double>) &&> done)>;

// Members are called on the loop.
class PeerTries {
 public:
  // `loop` outlives it. Without `dial` it dials nobody. `on_change` runs when
  // something else is to be told. `outbound_only`: by its own word.
  PeerTries(runtime::EventLoop& loop, DialPeer dial, bool outbound_only,
            std::function<void()> on_change);

  // `missed` are workers that answer nothing of what they are sent.
  void OnOrders(const protocol::Orders& orders,
                const std::vector<std::string>& missed);
  std::vector<protocol::Tried> Told() const;
  void AddMetrics(std::vector<runtime::Metric>& metrics) const;

 private:
  void Pump();
  void OnOutcome(const protocol::TryOrder& order,
                 const absl::StatusOr<double>& outcome);
  // At most one line a minute for each worker.
  void Log(const protocol::Tried& told);

  runtime::EventLoop& loop_;
  const DialPeer dial_;
  const bool outbound_only_;
  const std::function<void()> on_change_;
  TryBook book_;
  // Others await streams of this worker.
  bool is_reversed_ = false;
  std::optional<Instant> armed_for_;
  absl::btree_map<std::string, Instant> logged_;
  uint64_t answered_ = 0;
  uint64_t unanswered_ = 0;
  // Timers and outcomes that come after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_PEER_TRIES_H_
