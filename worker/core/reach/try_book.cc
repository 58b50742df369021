#include "worker/core/reach/try_book.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_set.h"

namespace skerry::worker {
namespace {

using protocol::Tried;
using protocol::TryOrder;

// Failures in a row that are told of.
constexpr int kFailuresToTell = 2;

}  // namespace

void TryBook::Learn(const std::vector<TryOrder>& orders, Instant now) {
  absl::btree_set<std::string> named;
  for (const TryOrder& order : orders) {
    named.insert(order.worker);
    Peer& peer = peers_[order.worker];
    const bool is_new = peer.order.incarnation != order.incarnation ||
                        peer.order.endpoints != order.endpoints;
    const bool is_asked = order.again && !peer.order.again;
    if (is_new) peer = Peer();
    peer.order = order;
    if (is_new || is_asked) peer.due = now;
  }
  absl::erase_if(peers_,
                 [&](const auto& one) { return !named.contains(one.first); });
}

void TryBook::Miss(const std::vector<std::string>& workers, Instant now) {
  for (auto& [name, peer] : peers_) {
    const bool is_missed =
        std::find(workers.begin(), workers.end(), name) != workers.end();
    if (is_missed && !peer.is_missed) peer.due = now;
    peer.is_missed = is_missed;
  }
}

std::vector<TryOrder> TryBook::TakeDue(Instant now) {
  std::vector<TryOrder> due;
  for (auto& [name, peer] : peers_) {
    if (peer.is_running || peer.due > now) continue;
    peer.is_running = true;
    due.push_back(peer.order);
  }
  return due;
}

std::optional<Instant> TryBook::NextDue() const {
  std::optional<Instant> next;
  for (const auto& [name, peer] : peers_) {
    if (peer.is_running) continue;
    if (!next.has_value() || peer.due < *next) next = peer.due;
  }
  return next;
}

std::optional<Tried> TryBook::OnOutcome(
    const TryOrder& order, const absl::StatusOr<double>& round_trip_ms,
    Instant now) {
  const auto it = peers_.find(order.worker);
  if (it == peers_.end()) return std::nullopt;
  Peer& peer = it->second;
  // It has been started again, or has moved, since it was dialled.
  if (peer.order.incarnation != order.incarnation ||
      peer.order.endpoints != order.endpoints) {
    return std::nullopt;
  }
  peer.is_running = false;
  peer.failures = round_trip_ms.ok() ? 0 : peer.failures + 1;
  if (peer.failures > 0 && peer.failures < kFailuresToTell) {
    peer.due = now + kAtOnce;
    return std::nullopt;
  }
  peer.due = now + (round_trip_ms.ok() && !peer.order.again ? kOften : kSoon);
  Tried told{order.worker, order.incarnation, {}, 0, ""};
  if (round_trip_ms.ok()) {
    told.round_trip_ms = *round_trip_ms;
  } else {
    told.error = std::string(round_trip_ms.status().message());
    if (told.error.empty()) told.error = "it does not answer";
  }
  const bool is_news = !peer.told.has_value() || peer.told->ok() != told.ok();
  peer.told = std::move(told);
  peer.told_at = now;
  return is_news ? peer.told : std::nullopt;
}

std::vector<Tried> TryBook::Told(Instant now) const {
  std::vector<Tried> all;
  for (const auto& [name, peer] : peers_) {
    if (!peer.told.has_value()) continue;
    all.push_back(*peer.told);
    all.back().age = now - peer.told_at;
  }
  return all;
}

}  // namespace skerry::worker
