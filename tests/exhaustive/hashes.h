// tests/exhaustive/hashes.h
//
// Hashes that stand for tensors. The hash of a result depends on its attempt
// and members; that of an anchor is the fold of the committed results.
#ifndef SKERRY_TESTS_EXHAUSTIVE_HASHES_H_
#define SKERRY_TESTS_EXHAUSTIVE_HASHES_H_

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "base/ids.h"
#include "protocol/exchange.h"

namespace skerry::exhaustive {

inline uint64_t ResultHash(Attempt attempt,
                           const std::vector<protocol::Member>& members,
                           uint32_t span) {
  uint64_t hash = CombineHash(attempt.value(), span);
  for (const protocol::Member& member : members) {
    hash = CombineHash(hash, member.life.value());
    hash = CombineHash(hash, member.contribution.round.value());
  }
  return hash;
}

// Returns the hash that faulty hardware computes instead of `result`. It is the
// same each time.
inline uint64_t WrongHash(uint64_t result) { return result + 1; }

inline uint64_t InitialAnchor(uint32_t fragment, uint32_t span) {
  return 1000 * (fragment + 1) + span;
}

// What a trainer whose initial values have that hash begins with. 0: the job is
// none of a program, and all trainers begin alike.
inline uint64_t InitialAnchor(uint64_t initial_hash, uint32_t fragment,
                              uint32_t span) {
  const uint64_t anchor = InitialAnchor(fragment, span);
  return initial_hash == 0 ? anchor : CombineHash(initial_hash, anchor);
}

inline uint64_t FoldAnchor(uint64_t anchor, uint64_t result) {
  return CombineHash(anchor, result);
}

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_HASHES_H_
