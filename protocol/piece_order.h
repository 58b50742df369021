// protocol/piece_order.h
//
// Defines what the coordinator asks of a worker to pass it on to an operator.
#ifndef SKERRY_PROTOCOL_PIECE_ORDER_H_
#define SKERRY_PROTOCOL_PIECE_ORDER_H_

#include <cstdint>

#include "protocol/piece_key.h"

namespace skerry::protocol {

// The worker sends the piece, which is one span of a base, from `offset` on to
// the coordinator.
struct PieceOrder {
  // Drawn at random.
  uint64_t request = 0;
  PieceKey key;
  uint64_t offset = 0;
  friend bool operator==(const PieceOrder&, const PieceOrder&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_PIECE_ORDER_H_
