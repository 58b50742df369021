// transport/directory.h
//
// Where workers are reached. Everything that sends to a worker knows it by its
// name, and asks here for its endpoint when it connects. A worker that cannot
// be dialled has none: it opens streams to this one, in reverse. If this one
// cannot be dialled either, both go through a relay.
#ifndef SKERRY_TRANSPORT_DIRECTORY_H_
#define SKERRY_TRANSPORT_DIRECTORY_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/any_invocable.h"
#include "protocol/peers.h"

namespace skerry::transport {

// Members are called on one loop, and so is the handler.
class Directory {
 public:
  // Endpoints (host:port) by worker, the preferred one first. For a worker that
  // opens streams to this one, protocol::kReverse is before all others, and for
  // one that is reached through a relay protocol::ViaRelay().
  using Entries = absl::btree_map<std::string, std::vector<std::string>>;
  // Called when a worker is reached elsewhere than before, or for the first
  // time. So it is when its relay is.
  using Moved = absl::AnyInvocable<void(const std::string& worker)>;
  using Workers = absl::btree_set<std::string>;

  // Takes in what `entries` says. What is known of other workers stays, because
  // frames to them may still wait.
  void Learn(const Entries& entries);

  // The endpoint to connect to; empty when nobody has said one, and for a
  // worker that is reached in reverse or through a relay. Among several it is
  // the first, until that one fails.
  std::string EndpointOf(const std::string& worker) const;
  // Whether there are several endpoints to connect to.
  bool HasChoice(const std::string& worker) const;
  // Nobody answers at the endpoint. If it is the one to connect to, and there
  // are others, the next one is from now on, and after the last the first. The
  // worker counts as moved.
  void OnFailed(const std::string& worker, const std::string& endpoint);
  // Whether the worker opens streams to this one and is not dialled.
  bool IsReverse(const std::string& worker) const;
  // The worker through which that one is reached, and reaches this one; empty
  // when there is none.
  std::string RelayOf(const std::string& worker) const;

  // Those that wait for streams of this worker, all of them.
  void SetAwaitedBy(Workers workers);
  const Workers& awaited_by() const { return awaited_by_; }

  // The pairs of workers between which this one passes frames and fetches on,
  // all of them.
  void SetRelayed(protocol::RelayedPairs pairs);
  bool Relays(const std::string& a, const std::string& b) const {
    return relayed_.contains(protocol::RelayedPair(a, b));
  }

  // Replaces the handler; null takes it away.
  void set_on_moved(Moved moved) { moved_ = std::move(moved); }
  // Replaces the handler that is called when awaited_by() has changed.
  void set_on_awaited(absl::AnyInvocable<void()> awaited) {
    awaited_ = std::move(awaited);
  }
  // Replaces the handler that is called when the pairs have changed that this
  // worker relays.
  void set_on_relayed(absl::AnyInvocable<void()> relayed) {
    relayed_changed_ = std::move(relayed);
  }

 private:
  // The first entry of the list; empty when there is none.
  std::string FirstOf(const std::string& worker) const;
  // The endpoint to connect to, or the first entry where there is none.
  std::string PlaceOf(const std::string& worker) const;
  // Tells of them, and of those behind relays among them.
  void TellMoved(Workers moved);

  Entries entries_;
  // The number of the endpoint to connect to, where it is not the first.
  absl::btree_map<std::string, size_t> chosen_;
  Workers awaited_by_;
  protocol::RelayedPairs relayed_;
  Moved moved_;
  absl::AnyInvocable<void()> awaited_;
  absl::AnyInvocable<void()> relayed_changed_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_DIRECTORY_H_
