// base/ids.h
//
// The numbers of the round protocol (PROTOCOL 1). Each is a type of its own, so
// that a sequence can never be passed where an attempt is meant.
#ifndef SKERRY_BASE_IDS_H_
#define SKERRY_BASE_IDS_H_

#include <compare>
#include <cstdint>

namespace skerry {

// An integer that mixes with no other integer.
template <typename Tag>
class StrongId {
 public:
  constexpr StrongId() = default;
  constexpr explicit StrongId(uint64_t value) : value_(value) {}
  constexpr uint64_t value() const { return value_; }
  constexpr bool is_set() const { return value_ != 0; }
  friend constexpr auto operator<=>(StrongId, StrongId) = default;

 private:
  uint64_t value_ = 0;
};

// Index of a record in the coordinator's journal. The five numbers below are
// such indexes; 0 means none.
using Revision = StrongId<struct RevisionTag>;
using JobId = StrongId<struct JobIdTag>;
using Incarnation = StrongId<struct IncarnationTag>;
using Life = StrongId<struct LifeTag>;
using Attempt = StrongId<struct AttemptTag>;
using Epoch = StrongId<struct EpochTag>;

// Place in the history of one fragment: 0 is the initial state, +1 per commit.
using Sequence = StrongId<struct SequenceTag>;
// Counts the rounds of one life.
using Round = StrongId<struct RoundTag>;
// Chosen at random by a worker process when it starts.
using Boot = StrongId<struct BootTag>;
using ReplicaId = StrongId<struct ReplicaIdTag>;
using FragmentId = StrongId<struct FragmentIdTag>;
using SpanId = StrongId<struct SpanIdTag>;

template <typename Tag>
constexpr StrongId<Tag> Next(StrongId<Tag> id) {
  return StrongId<Tag>(id.value() + 1);
}

}  // namespace skerry

#endif  // SKERRY_BASE_IDS_H_
