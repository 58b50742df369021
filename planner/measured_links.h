// planner/measured_links.h
//
// Estimates how wide the links of an exchange's members are, from what pairs of
// them have measured.
//
// A pair's rate is what one member reached another with while both had other
// transfers as well. So a member's way out carries at least the sum of what it
// sends to all, and its way in the sum of what all send to it. A way may be
// wider than that if the ways at the other ends are the limit.
//
// A way in limits its transfers if it carries clearly less than its senders
// reach others with. Other transfers are limited by their senders' ways out. A
// way that limits nothing counts as wide as the member's other way, if that has
// carried more.
#ifndef SKERRY_PLANNER_MEASURED_LINKS_H_
#define SKERRY_PLANNER_MEASURED_LINKS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "absl/time/time.h"
#include "planner/exchange_time.h"

namespace skerry::planner {

// What was measured of the way from one member to another, by their indices.
struct PairRate {
  size_t from = 0;
  size_t to = 0;
  double bytes_per_s = 0.0;
  // The next three mean what they mean in LinkFacts.
  double rate_spread = 0.0;
  absl::Duration round_trip = {};
  absl::Duration round_trip_spread = {};
};

// By member. Rates of one pair add up: its members may have several workers.
// What nobody has measured counts as slow as the slowest way that somebody has;
// none when nobody has measured anything.
//
// Requires: in every pair from != to, both below `members`, and a rate above 0.
std::optional<std::vector<LinkFacts>> LinksOfMembers(
    size_t members, std::span<const PairRate> pairs);

}  // namespace skerry::planner

#endif  // SKERRY_PLANNER_MEASURED_LINKS_H_
