#include "planner/owner_shares.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "base/status.h"

namespace skerry::planner {
namespace {

double Rate(const MemberRate& member) {
  return std::min(member.up_bytes_per_s, member.down_bytes_per_s);
}

absl::Status CheckMembers(std::span<const MemberRate> members) {
  if (members.empty()) {
    return absl::InvalidArgumentError("an exchange needs a member");
  }
  for (const MemberRate& member : members) {
    if (!(Rate(member) > 0.0 && std::isfinite(member.up_bytes_per_s) &&
          std::isfinite(member.down_bytes_per_s))) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "replica %d has no positive link rate", member.replica.value()));
    }
  }
  return absl::OkStatus();
}

size_t SlowestOf(std::span<const MemberRate> members) {
  size_t slowest = 0;
  for (size_t i = 1; i < members.size(); ++i) {
    if (Rate(members[i]) < Rate(members[slowest])) slowest = i;
  }
  return slowest;
}

// Time of a member that owns `owned` of all `total` bytes.
double Seconds(double total, double owned, size_t group, double rate) {
  if (group == 1) return 0.0;
  return (total + static_cast<double>(group - 2) * owned) / rate;
}

}  // namespace

absl::StatusOr<OwnerShares> ComputeOwnerShares(
    double encoded_bytes, std::span<const MemberRate> members) {
  SKERRY_RETURN_IF_ERROR(CheckMembers(members));
  if (!(encoded_bytes >= 0.0 && std::isfinite(encoded_bytes))) {
    return absl::InvalidArgumentError("encoded bytes have to be >= 0");
  }
  const auto group = static_cast<double>(members.size());
  double total_rate = 0.0;
  for (const MemberRate& member : members) total_rate += Rate(member);
  OwnerShares result;
  if (members.size() <= 2) {
    for (const MemberRate& member : members) {
      result.shares.push_back(Rate(member) / total_rate);
    }
    result.seconds = Seconds(encoded_bytes, 0.0, members.size(),
                             Rate(members[SlowestOf(members)]));
    result.reason = members.size() == 1
                        ? "one member: nothing is sent"
                        : "two members send each other everything whoever "
                          "owns it; shares follow the rates";
    return result;
  }
  const MemberRate& slowest = members[SlowestOf(members)];
  const double floor = 1.0 / Rate(slowest);                  // seconds a byte
  const double balanced = 2.0 * (group - 1.0) / total_rate;  // likewise
  const double per_byte = std::max(floor, balanced);
  double room = 0.0;
  for (const MemberRate& member : members) {
    const double share =
        std::max(0.0, (per_byte * Rate(member) - 1.0) / (group - 2.0));
    result.shares.push_back(share);
    room += share;
  }
  // Above 1 only where the floor binds.
  for (double& share : result.shares) share /= room;
  result.seconds = encoded_bytes * per_byte;
  result.reason =
      floor > balanced
          ? absl::StrFormat(
                "replica %d at %.3g MB/s needs %.3g s for its own bytes alone "
                "and owns nothing; a smaller codec on its link is the cure",
                slowest.replica.value(), Rate(slowest) / 1e6, result.seconds)
          : absl::StrFormat("all links end together after %.3g s",
                            result.seconds);
  return result;
}

absl::StatusOr<OwnerAssignment> AssignOwners(
    double encoded_bytes_per_element, std::span<const SpanRange> spans,
    std::span<const MemberRate> members) {
  if (spans.empty()) {
    return absl::InvalidArgumentError("there is no span to own");
  }
  double total = 0.0;
  for (const SpanRange& span : spans) {
    total += encoded_bytes_per_element * static_cast<double>(span.size());
  }
  SKERRY_ASSIGN_OR_RETURN(const OwnerShares ideal,
                          ComputeOwnerShares(total, members));
  OwnerAssignment result;
  std::vector<double> owned(members.size(), 0.0);
  for (const SpanRange& span : spans) {
    const double bytes =
        encoded_bytes_per_element * static_cast<double>(span.size());
    // Each span goes to who would end first with it. Between two members
    // ownership costs no time, so there it only follows the rates.
    const auto cost = [&](size_t i) {
      return members.size() > 2 ? Seconds(total, owned[i] + bytes,
                                          members.size(), Rate(members[i]))
                                : (owned[i] + bytes) / Rate(members[i]);
    };
    size_t best = 0;
    for (size_t i = 1; i < members.size(); ++i) {
      if (cost(i) < cost(best)) best = i;
    }
    owned[best] += bytes;
    result.owner.push_back(static_cast<uint32_t>(best));
  }
  for (size_t i = 0; i < members.size(); ++i) {
    result.seconds =
        std::max(result.seconds,
                 Seconds(total, owned[i], members.size(), Rate(members[i])));
  }
  result.reason = absl::StrFormat("%s; with whole spans %.3g s", ideal.reason,
                                  result.seconds);
  return result;
}

}  // namespace skerry::planner
