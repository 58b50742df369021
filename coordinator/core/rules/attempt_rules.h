// coordinator/core/rules/attempt_rules.h
//
// These functions judge an open attempt by what was reported: whether it may
// commit (PROTOCOL 5.2), whether its results disagree, and whom to blame when
// its deadline has passed (5.3).
#ifndef SKERRY_COORDINATOR_CORE_RULES_ATTEMPT_RULES_H_
#define SKERRY_COORDINATOR_CORE_RULES_ATTEMPT_RULES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "base/ids.h"
#include "protocol/fragment_facts.h"

namespace skerry::coordinator {

// One member of the open attempt, in the order of the attempt.
struct MemberReport {
  ReplicaId replica;
  // Its life is the one that the attempt names, and is current.
  bool current = false;
  bool suspected = false;
  // By span; unset where its worker has not reported. Sized to the span count.
  std::vector<std::optional<uint64_t>> hashes;
  // What its workers say has arrived, one list a worker that said anything.
  std::vector<std::vector<protocol::Progress>> received;

  bool Complete() const;
};

struct AttemptVerdict {
  enum class Kind { kWait, kCommit, kDisagree, kExpired };
  Kind kind = Kind::kWait;
  // kCommit: of every span.
  std::vector<uint64_t> hashes;
  // kDisagree: of one span, the members behind each hash, largest set first,
  // then the set with the lowest replica.
  std::vector<absl::btree_set<ReplicaId>> sets;
  uint32_t span = 0;
};

// kDisagree only when no further report can be waited for: every current
// member has reported that span, or the deadline has passed. kExpired: the
// deadline has passed and nothing else holds.
AttemptVerdict JudgeAttempt(const std::vector<MemberReport>& members,
                            uint32_t span_count, bool deadline_passed);

struct Blame {
  absl::btree_set<ReplicaId> replicas;
  std::string reason;
};

// Chooses whom to leave out of the next attempt, by the first step of PROTOCOL
// 5.3 that names anyone. Never empty for an attempt with members.
Blame ChooseBlame(const std::vector<MemberReport>& members);

// Whether every other current member has all bytes that it expects of
// `replica`, so that the attempt can end without it.
bool IsNoLongerNeeded(const std::vector<MemberReport>& members,
                      ReplicaId replica);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_ATTEMPT_RULES_H_
