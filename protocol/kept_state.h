// protocol/kept_state.h
//
// Names the state of a fragment with which an operator had a job go on after
// its history was lost (PROTOCOL 5.9), and tells which states are of the lost
// part.
#ifndef SKERRY_PROTOCOL_KEPT_STATE_H_
#define SKERRY_PROTOCOL_KEPT_STATE_H_

#include "base/ids.h"

namespace skerry::protocol {

struct KeptState {
  Sequence sequence;
  // The attempt whose commit made it; unset where that is not known.
  Attempt attempt;
  // Attempts are newer than this if they were opened after the decision. Unset
  // when an operator has never decided.
  Attempt since;

  friend bool operator==(const KeptState&, const KeptState&) = default;
};

// Whether the state at `sequence`, which the commit of `attempt` made, is of
// the lost history: it is another one than the kept state, or follows such a
// one. False where `attempt` is unset, because its history is not known then.
inline bool IsLost(const KeptState& kept, Sequence sequence, Attempt attempt) {
  if (!attempt.is_set() || attempt >= kept.since) return false;
  const bool differs = kept.attempt.is_set() && attempt != kept.attempt;
  return sequence > kept.sequence || (sequence == kept.sequence && differs);
}

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_KEPT_STATE_H_
