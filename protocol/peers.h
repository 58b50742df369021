// protocol/peers.h
//
// Defines who the workers are, where others reach them, and what each of them
// holds of a model. A worker is its name. The address at which it is reached
// belongs to the name and may change.
#ifndef SKERRY_PROTOCOL_PEERS_H_
#define SKERRY_PROTOCOL_PEERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"

namespace skerry::protocol {

// Where each worker is reached: endpoints (host:port) by name, in the order in
// which they are preferred. Nobody's list is empty. The list of a worker that
// cannot be dialled begins with kReverse, which is no endpoint: the worker
// opens streams to whoever has this directory.
inline constexpr char kReverse[] = "reverse";
using Directory = absl::btree_map<std::string, std::vector<std::string>>;

// A worker and where it was when it was admitted. It may have moved since: the
// directory of the newest orders knows.
struct PeerAddress {
  std::string worker;
  std::string address;         // host:port for workers of other islands
  std::string island_address;  // host:port inside the island; may be empty
  // Workers of other islands cannot dial it.
  bool outbound_only = false;

  // Where workers of the same island reach it.
  const std::string& inside() const {
    return island_address.empty() ? address : island_address;
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
