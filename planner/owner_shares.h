// planner/owner_shares.h
//
// How much of a two-hop exchange each member owns, and which spans.
//
// With M encoded bytes and G members, a member that owns the share s moves
// M (1 + (G - 2) s) bytes each way: M (1 - s) of contributions out and results
// in, M (G - 1) s of results out and contributions in. All links then end
// together when s_i = (T r_i / M - 1) / (G - 2), r_i being the slower direction
// of member i. Shares cannot be negative, so T >= M / min r_i, and where that
// floor binds the others have time to spare.
#ifndef SKERRY_PLANNER_OWNER_SHARES_H_
#define SKERRY_PLANNER_OWNER_SHARES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "planner/spans.h"

namespace skerry::planner {

struct MemberRate {
  ReplicaId replica;
  double up_bytes_per_s = 0.0;
  double down_bytes_per_s = 0.0;
};

struct OwnerShares {
  double seconds = 0.0;        // T, without latency
  std::vector<double> shares;  // in the order of the members; their sum is 1
  std::string reason;
};

// Errors: InvalidArgument when there is no member, a rate is not positive, or
// `encoded_bytes` is negative.
absl::StatusOr<OwnerShares> ComputeOwnerShares(
    double encoded_bytes, std::span<const MemberRate> members);

struct OwnerAssignment {
  // By span, the index of its owner in `members`.
  std::vector<uint32_t> owner;
  double seconds = 0.0;  // of the slowest member, with whole spans
  std::string reason;
};

// Gives whole spans to owners so that the slowest member ends as early as it
// can: optimal for spans of one size, and at most one span later than
// ComputeOwnerShares otherwise. Depends on nothing but the arguments.
//
// Errors: as above; InvalidArgument when there is no span.
absl::StatusOr<OwnerAssignment> AssignOwners(
    double encoded_bytes_per_element, std::span<const SpanRange> spans,
    std::span<const MemberRate> members);

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_OWNER_SHARES_H_
