// protocol/peers.h
//
// Defines who the workers are, where others reach them, and what each of them
// holds of a model. A worker is its name. The address at which it is reached
// belongs to the name and may change.
#ifndef SKERRY_PROTOCOL_PEERS_H_
#define SKERRY_PROTOCOL_PEERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"

namespace skerry::protocol {

// Where each worker is reached: endpoints (host:port) by name, in the order in
// which they are preferred. Nobody's list is empty. The list of a worker that
// cannot be dialled begins with kReverse, which is no endpoint: the worker
// opens streams to whoever has this directory. If neither of the two can dial
// the other, the list begins with ViaRelay() instead.
inline constexpr char kReverse[] = "reverse";
inline constexpr std::string_view kRelayPrefix = "relay ";
using Directory = absl::btree_map<std::string, std::vector<std::string>>;

// The first entry for a worker that is reached through `relay`.
inline std::string ViaRelay(std::string_view relay) {
  return std::string(kRelayPrefix) + std::string(relay);
}
// The relay that ViaRelay() has named; empty for any other entry.
inline std::string_view RelayIn(std::string_view entry) {
  if (!entry.starts_with(kRelayPrefix)) return "";
  return entry.substr(kRelayPrefix.size());
}

// Pairs of workers between which a relay passes frames and fetches on. The
// lesser name of each pair is first.
using RelayedPairs = absl::btree_set<std::pair<std::string, std::string>>;
inline std::pair<std::string, std::string> RelayedPair(std::string a,
                                                       std::string b) {
  if (b < a) std::swap(a, b);
  return {std::move(a), std::move(b)};
}

// A worker and where it was when it was admitted. It may have moved since: the
// directory of the newest orders knows.
struct PeerAddress {
  std::string worker;
  std::string address;         // host:port for workers of other islands
  std::string island_address;  // host:port inside the island; may be empty
  // Workers of other islands cannot dial it.
  bool outbound_only = false;
  // It passes frames and fetches on between workers that cannot be dialled.
  bool relay = false;
  // More of `address`, in the order in which to dial them after it.
  std::vector<std::string> more_addresses = {};

  // Where workers of the same island reach it.
  const std::string& inside() const {
    return island_address.empty() ? address : island_address;
  }
  // Every address for workers of other islands, the preferred one first.
  std::vector<std::string> outside() const {
    std::vector<std::string> all = {address};
    all.insert(all.end(), more_addresses.begin(), more_addresses.end());
    return all;
  }
  friend bool operator==(const PeerAddress&, const PeerAddress&) = default;
};

// Spans [span_begin, span_end) of every fragment and the worker with them.
struct SpanHolder {
  uint32_t span_begin = 0;
  uint32_t span_end = 0;
  PeerAddress peer;
  uint32_t stage = 0;

  bool Holds(uint32_t span) const {
    return span_begin <= span && span < span_end;
  }
  friend bool operator==(const SpanHolder&, const SpanHolder&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_PEERS_H_
