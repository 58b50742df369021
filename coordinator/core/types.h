// coordinator/core/types.h
//
// Values that records, facts and orders share. Each equals the message of the
// same name in proto/skerry/v1, whose comments define the fields.
#ifndef SKERRY_COORDINATOR_CORE_TYPES_H_
#define SKERRY_COORDINATOR_CORE_TYPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "data/sample_ranges.h"

namespace skerry::coordinator {

struct PeerAddress {
  std::string worker;
  std::string address;
  std::string island_address;

  friend bool operator==(const PeerAddress&, const PeerAddress&) = default;
};

// Spans [span_begin, span_end) of every fragment and the worker with them.
struct SpanHolder {
  uint32_t span_begin = 0;
  uint32_t span_end = 0;
  PeerAddress peer;
  uint32_t stage = 0;

  friend bool operator==(const SpanHolder&, const SpanHolder&) = default;
};

// One span of a whole state: what it is and which workers have it.
struct StatePiece {
  uint64_t hash = 0;
  std::vector<std::string> addresses;
  friend bool operator==(const StatePiece&, const StatePiece&) = default;
};

struct RoundScalars {
  double loss = 0;
  uint64_t inner_steps = 0;
  double delta_squared_norm = 0;
  double compute_s = 0;

  friend bool operator==(const RoundScalars&, const RoundScalars&) = default;
};

// What a replica offers of one round. Its id is (replica, life, round).
struct Contribution {
  Round round;
  Sequence base;
  double weight = 0;
  std::vector<data::SampleRange> ranges;
  RoundScalars scalars;

  friend bool operator==(const Contribution&, const Contribution&) = default;
};

struct Member {
  ReplicaId replica;
  Life life;
  Contribution contribution;
  std::vector<SpanHolder> holders;
  std::string codec;
  std::string result_codec = {};

  friend bool operator==(const Member&, const Member&) = default;
};

enum class Hops { kOne, kTwo };

enum class JobPhase { kPending, kRunning, kSucceeded, kFailed, kCancelled };

// What an operator wants of a worker: to serve, to get nothing new, or to leave
// every job as well.
enum class WorkerIntent { kServe, kCordon, kDrain };

enum class SeatState { kStarting, kRecovering, kActive, kResting, kFailed };

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_TYPES_H_
