// protocol/contribution.h
//
// Defines what a replica offers after a round, and what becomes of it.
#ifndef SKERRY_PROTOCOL_CONTRIBUTION_H_
#define SKERRY_PROTOCOL_CONTRIBUTION_H_

#include <cstdint>

#include "base/ids.h"
#include "data/sample_ranges.h"

namespace skerry::protocol {

struct RoundScalars {
  // Mean over the samples, nats a token; 0 when there is none.
  double loss = 0;
  uint64_t inner_steps = 0;
  double delta_squared_norm = 0;
  double compute_s = 0;
  // The trainer does not measure a loss.
  bool no_loss = false;
  // What optimizer::OwnShare() made of a committed result's members. 0: not
  // known.
  double own_share = 0;
  // Inner steps that were taken until the result of the round before was in the
  // live parameters; for a committed result, the members' mean by weight.
  double late_steps = 0;

  friend bool operator==(const RoundScalars&, const RoundScalars&) = default;
};

// Its id is (replica, life, round). It is immutable until its outcome.
struct Contribution {
  Round round;
  Sequence base;      // of the anchor that the round started from
  double weight = 0;  // samples
  data::RangeSet ranges;
  RoundScalars scalars;

  friend bool operator==(const Contribution&, const Contribution&) = default;
};

// What became of the contribution (replica, life, round).
struct Outcome {
  enum class Kind { kPending, kCommitted, kDropped };
  Round round;
  Kind kind = Kind::kPending;
  // Set when committed.
  Attempt attempt;
  Sequence sequence;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_CONTRIBUTION_H_
