// planner/owner_shares.h
//
// Decides how much of a two-hop exchange each member owns, and which spans.
//
// A member that owns the share s_i is busy for T = M (1 + (G - 2) s_i) / r_i
// (LinkSeconds in exchange_time.h), with M bytes, G members and r_i, the slower
// way of its link. All links end together when s_i = (T r_i / M - 1) / (G - 2).
// Shares cannot be negative, so T >= M / min r_i. If a slow link makes T that
// long, the other links have time to spare.
#ifndef SKERRY_PLANNER_OWNER_SHARES_H_
#define SKERRY_PLANNER_OWNER_SHARES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/exchange_time.h"

namespace skerry::planner {

struct OwnerShares {
  double seconds = 0.0;        // T, without delays
  std::vector<double> shares;  // in the order of the members; their sum is 1
  std::string reason;
};

// Whatever the members of `shape` own in it is not looked at.
//
// Errors: InvalidArgument when there are fewer than three members, a rate is
// not positive, or `bytes_per_element` is not.
absl::StatusOr<OwnerShares> ComputeOwnerShares(const ExchangeShape& shape,
                                               double bytes_per_element);

struct OwnerAssignment {
  // By span, the index of its owner in the members.
  std::vector<uint32_t> owner;
  // LinkSeconds of the member that needs most, with whole spans.
  double seconds = 0.0;
  std::string reason;
};

// Gives whole spans to owners so that the slowest member ends as early as it
// can: optimal for spans of one size, and at most one span later than
// ComputeOwnerShares otherwise. Depends on nothing but the arguments.
//
// Errors: as above; InvalidArgument when `span_elements` are not all elements
// of the shape.
absl::StatusOr<OwnerAssignment> AssignOwners(
    const ExchangeShape& shape, std::span<const uint64_t> span_elements,
    double bytes_per_element);

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_OWNER_SHARES_H_
