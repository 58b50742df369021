#include "planner/hops.h"

#include "absl/strings/str_format.h"
#include "base/check.h"

namespace skerry::planner {
namespace {

// What a fast disk of a machine in a cloud takes. On a slower one two hops save
// more.
constexpr double kDiskBytesPerS = 1e9;
// With fewer, the two ways of a link are not equally busy.
constexpr uint32_t kSpansMin = 8;

}  // namespace

HopChoice DescribeHops(int hops, uint32_t members, double contribution_bytes,
                       double result_bytes) {
  SKERRY_CHECK(members > 0 && (hops == 0) == (members == 1));
  if (hops == 0) return {0, 0.0, "one member: the exchange is local"};
  const double others = members - 1;
  const double one_hop = others * contribution_bytes;
  const double two_hops =
      others / members * (contribution_bytes + result_bytes);
  if (hops == 1) {
    return {1, one_hop,
            absl::StrFormat("%d members: one hop sends %.4g MB each, two hops "
                            "%.4g MB and one delay more",
                            members, one_hop / 1e6, two_hops / 1e6)};
  }
  return {
      2, two_hops,
      absl::StrFormat("%d members: two hops send %.4g MB each, one hop %.4g MB",
                      members, two_hops / 1e6, one_hop / 1e6) +
          (two_hops == one_hop ? ", which is twice as much to store" : "")};
}

bool TwoMembersTakeTwoHops(double contribution_bytes, uint32_t spans,
                           absl::Duration round_trip) {
  return spans >= kSpansMin &&
         round_trip < absl::Seconds(contribution_bytes / kDiskBytesPerS);
}

HopChoice ChooseHops(uint32_t members, double contribution_bytes,
                     double result_bytes) {
  SKERRY_CHECK(members > 0);
  const auto describe = [&](int hops) {
    return DescribeHops(hops, members, contribution_bytes, result_bytes);
  };
  if (members == 1) return describe(0);
  HopChoice one = describe(1);
  HopChoice two = describe(2);
  return one.bytes_each <= two.bytes_each ? one : two;
}

}  // namespace skerry::planner
