// planner/hops.h
//
// Decides whether the members of an exchange send their contributions to
// everyone (one hop), or to owners who send means back (two hops).
#ifndef SKERRY_PLANNER_HOPS_H_
#define SKERRY_PLANNER_HOPS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace skerry::planner {

struct HopChoice {
  // 0: a lone member has nobody to send to.
  int hops = 0;
  // What one member sends, with equal owner shares.
  double bytes_each = 0.0;
  std::string reason;
};

// `contribution_bytes` and `result_bytes` are those of the whole fragment,
// encoded; they differ for sparse codecs, whose sums are denser than their
// terms. Chooses whatever sends fewer bytes, and one hop where both send the
// same, because it waits for one delay instead of two. Dense codecs get one hop
// between two members and two hops among more.
//
// Requires: members > 0.
HopChoice ChooseHops(uint32_t members, double contribution_bytes,
                     double result_bytes);

// Whether two members that send their values uncoded take two hops. They send
// the same bytes either way. After one hop each has both contributions to store
// and to add up, and after two hops only the mean. That saves the time in which
// a disk takes `contribution_bytes`, and costs a delay, which is less than
// `round_trip`. Both members have to own spans for it. A codec would lose
// something in each hop, so coded values keep to one.
bool TwoMembersTakeTwoHops(double contribution_bytes, uint32_t spans,
                           absl::Duration round_trip);

// Returns the same for `hops` that are chosen already, before the codecs and so
// the bytes were known.
//
// Requires: hops is 0 for one member, and 1 or 2 for more.
HopChoice DescribeHops(int hops, uint32_t members, double contribution_bytes,
                       double result_bytes);

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_HOPS_H_
