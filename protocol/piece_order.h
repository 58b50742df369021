// protocol/piece_order.h
//
// Defines what the coordinator asks of a worker to pass it on to an operator.
#ifndef SKERRY_PROTOCOL_PIECE_ORDER_H_
#define SKERRY_PROTOCOL_PIECE_ORDER_H_

#include <cstdint>

#include "base/ids.h"

namespace skerry::protocol {

// One span of a base that a worker holds.
struct AskedPiece {
  JobId job;
  uint32_t fragment = 0;
  uint32_t span = 0;
  Sequence sequence;
  // XXH3-64 of the whole piece.
  uint64_t hash = 0;
  friend bool operator==(const AskedPiece&, const AskedPiece&) = default;
};

// The worker sends the piece from `offset` on to the coordinator.
struct PieceOrder {
  // Drawn at random.
  uint64_t request = 0;
  AskedPiece key;
  uint64_t offset = 0;
  friend bool operator==(const PieceOrder&, const PieceOrder&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_PIECE_ORDER_H_
