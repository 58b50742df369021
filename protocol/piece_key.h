// protocol/piece_key.h
//
// Names an immutable object that some worker holds and others fetch.
#ifndef SKERRY_PROTOCOL_PIECE_KEY_H_
#define SKERRY_PROTOCOL_PIECE_KEY_H_

#include <compare>
#include <cstdint>

#include "base/ids.h"

namespace skerry::protocol {

// One span of a base of a fragment, one span of the stored result of (sequence,
// attempt), or one chunk of a file of the job's data set.
struct PieceKey {
  enum class Kind : uint8_t { kBase = 1, kResult = 2, kData = 3 };
  Kind kind = Kind::kBase;
  Sequence sequence = {};  // unset for data
  Attempt attempt = {};    // set for results
  uint32_t span = 0;       // 0 for data
  // Hash64 of the object's bytes. For data, the first 8 bytes of the SHA-256 of
  // the set's manifest: the whole file has a SHA-256 that its reader compares.
  uint64_t hash = 0;
  uint32_t fragment = 0;  // 0 for data
  // A seat leaves it unset: the job's links set it.
  JobId job = {};
  // For data: the file's number in its set, and where the chunk begins in it.
  uint64_t file = 0;
  uint64_t offset_bytes = 0;
  friend auto operator<=>(const PieceKey&, const PieceKey&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_PIECE_KEY_H_
