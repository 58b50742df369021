// protocol/state_piece.h
//
// Defines which workers have a span of a whole state.
#ifndef SKERRY_PROTOCOL_STATE_PIECE_H_
#define SKERRY_PROTOCOL_STATE_PIECE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace skerry::protocol {

// One span of a whole state: what it is, and the names of the workers that have
// it.
struct StatePiece {
  uint64_t hash = 0;
  std::vector<std::string> workers;
  friend bool operator==(const StatePiece&, const StatePiece&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_STATE_PIECE_H_
