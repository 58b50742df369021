#include "planner/owner_shares.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "base/status.h"

namespace skerry::planner {
namespace {

absl::Status Check(const ExchangeShape& shape, double bytes_per_element) {
  if (shape.members.size() < 3 || shape.elements == 0) {
    return absl::InvalidArgumentError(
        "owners have shares among three members or more, and of an element "
        "or more");
  }
  if (!(bytes_per_element > 0.0 && std::isfinite(bytes_per_element))) {
    return absl::InvalidArgumentError("an element has to have bytes");
  }
  for (const ExchangeMember& member : shape.members) {
    const double rate = RateOf(member.link);
    if (!(rate > 0.0 && std::isfinite(rate))) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "replica %d has no positive link rate", member.replica.value()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OwnerShares> ComputeOwnerShares(const ExchangeShape& shape,
                                               double bytes_per_element) {
  SKERRY_RETURN_IF_ERROR(Check(shape, bytes_per_element));
  const auto group = static_cast<double>(shape.members.size());
  double total_rate = 0.0;
  const ExchangeMember* slowest = &shape.members[0];
  for (const ExchangeMember& member : shape.members) {
    total_rate += RateOf(member.link);
    if (RateOf(member.link) < RateOf(slowest->link)) slowest = &member;
  }
  const double floor = 1.0 / RateOf(slowest->link);          // seconds a byte
  const double balanced = 2.0 * (group - 1.0) / total_rate;  // likewise
  const double per_byte = std::max(floor, balanced);
  OwnerShares result;
  double room = 0.0;
  for (const ExchangeMember& member : shape.members) {
    const double share =
        std::max(0.0, (per_byte * RateOf(member.link) - 1.0) / (group - 2.0));
    result.shares.push_back(share);
    room += share;
  }
  // Above 1 only where the floor binds.
  for (double& share : result.shares) share /= room;
  result.seconds =
      static_cast<double>(shape.elements) * bytes_per_element * per_byte;
  result.reason =
      floor > balanced
          ? absl::StrFormat(
                "replica %d at %.3g MB/s needs %.3g s for its own bytes alone "
                "and owns nothing",
                slowest->replica.value(), RateOf(slowest->link) / 1e6,
                result.seconds)
          : absl::StrFormat("all links would end together after %.3g s",
                            result.seconds);
  return result;
}

absl::StatusOr<OwnerAssignment> AssignOwners(
    const ExchangeShape& shape, std::span<const uint64_t> span_elements,
    double bytes_per_element) {
  SKERRY_ASSIGN_OR_RETURN(const OwnerShares ideal,
                          ComputeOwnerShares(shape, bytes_per_element));
  ExchangeShape whole = shape;
  uint64_t elements = 0;
  for (const uint64_t span : span_elements) elements += span;
  if (elements != shape.elements) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "spans have %d of %d elements", elements, shape.elements));
  }
  for (ExchangeMember& member : whole.members) member.owned_elements = 0;
  OwnerAssignment result;
  for (const uint64_t span : span_elements) {
    // The span goes to whoever ends first with it.
    size_t best = 0;
    double soonest = 0.0;
    for (size_t m = 0; m < whole.members.size(); ++m) {
      whole.members[m].owned_elements += span;
      const double end = LinkSeconds(whole, m, bytes_per_element);
      whole.members[m].owned_elements -= span;
      if (m > 0 && end >= soonest) continue;
      best = m;
      soonest = end;
    }
    whole.members[best].owned_elements += span;
    result.owner.push_back(static_cast<uint32_t>(best));
  }
  for (size_t m = 0; m < whole.members.size(); ++m) {
    result.seconds =
        std::max(result.seconds, LinkSeconds(whole, m, bytes_per_element));
  }
  result.reason = absl::StrFormat("%s; with whole spans %.3g s", ideal.reason,
                                  result.seconds);
  return result;
}

}  // namespace skerry::planner
