// coordinator/core/rules/join_limit.h
//
// Slows down whoever guesses tokens: after a number of failures in a minute, an
// address has to wait.
#ifndef SKERRY_COORDINATOR_CORE_RULES_JOIN_LIMIT_H_
#define SKERRY_COORDINATOR_CORE_RULES_JOIN_LIMIT_H_

#include <cstddef>
#include <deque>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "base/instant.h"

namespace skerry::coordinator {

inline constexpr size_t kJoinFailuresPerMinute = 10;

class JoinLimit {
 public:
  // Errors: ResourceExhausted, with how long to wait.
  absl::Status Check(const std::string& address, Instant now);
  void Failed(const std::string& address, Instant now);

 private:
  void Forget(Instant now);
  // When more addresses fail than are remembered, the others share one count.
  std::string SlotOf(const std::string& address) const;

  // The newest failures of each address, oldest first.
  absl::btree_map<std::string, std::deque<Instant>> failures_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_RULES_JOIN_LIMIT_H_
