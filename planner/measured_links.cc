#include "planner/measured_links.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace skerry::planner {
namespace {

// A way in limits its transfers when it carries less than this share of what
// its senders reach others with. Measurements of links that are alike differ by
// less.
constexpr double kLimitsBelow = 2.0 / 3;

// Rates by sender and receiver; 0 where nobody has measured.
class Rates {
 public:
  Rates(size_t members, std::span<const PairRate> pairs)
      : members_(members), rates_(members * members) {
    for (const PairRate& pair : pairs) {
      SKERRY_CHECK(pair.from < members && pair.to < members &&
                   pair.from != pair.to && pair.bytes_per_s > 0.0);
      rates_[pair.from * members + pair.to] += pair.bytes_per_s;
    }
  }

  double At(size_t from, size_t to) const {
    return rates_[from * members_ + to];
  }
  double MostFrom(size_t from) const {
    double most = 0.0;
    for (size_t to = 0; to < members_; ++to)
      most = std::max(most, At(from, to));
    return most;
  }

 private:
  const size_t members_;
  std::vector<double> rates_;
};

struct Ways {
  double out = 0.0;
  double in = 0.0;
  bool in_limits = false;
  bool out_limits = false;
};

std::vector<Ways> WaysOf(size_t members, const Rates& rates) {
  std::vector<Ways> ways(members);
  for (size_t to = 0; to < members; ++to) {
    double elsewhere = 0.0;
    for (size_t from = 0; from < members; ++from) {
      const double rate = rates.At(from, to);
      ways[from].out += rate;
      ways[to].in += rate;
      if (rate > 0.0) elsewhere += rates.MostFrom(from);
    }
    ways[to].in_limits = ways[to].in < kLimitsBelow * elsewhere;
  }
  for (size_t to = 0; to < members; ++to) {
    for (size_t from = 0; from < members; ++from) {
      ways[from].out_limits |= rates.At(from, to) > 0.0 && !ways[to].in_limits;
    }
  }
  return ways;
}

void FillUnmeasured(std::vector<LinkFacts>& links) {
  double slowest = std::numeric_limits<double>::infinity();
  for (const LinkFacts& link : links) {
    for (const double rate : {link.up_bytes_per_s, link.down_bytes_per_s}) {
      if (rate > 0.0) slowest = std::min(slowest, rate);
    }
  }
  for (LinkFacts& link : links) {
    for (double* rate : {&link.up_bytes_per_s, &link.down_bytes_per_s}) {
      if (*rate == 0.0) *rate = slowest;
    }
  }
}

}  // namespace

std::optional<std::vector<LinkFacts>> LinksOfMembers(
    size_t members, std::span<const PairRate> pairs) {
  if (pairs.empty()) return std::nullopt;
  std::vector<LinkFacts> links(members);
  for (const PairRate& pair : pairs) {
    for (LinkFacts* end : {&links[pair.from], &links[pair.to]}) {
      end->rate_spread = std::max(end->rate_spread, pair.rate_spread);
      end->round_trip = std::max(end->round_trip, pair.round_trip);
      end->round_trip_spread =
          std::max(end->round_trip_spread, pair.round_trip_spread);
    }
  }
  const std::vector<Ways> ways = WaysOf(members, Rates(members, pairs));
  for (size_t m = 0; m < members; ++m) {
    const Ways& one = ways[m];
    const double most = std::max(one.out, one.in);
    const bool measured = one.out > 0.0 && one.in > 0.0;
    links[m].up_bytes_per_s = measured && !one.out_limits ? most : one.out;
    links[m].down_bytes_per_s = measured && !one.in_limits ? most : one.in;
  }
  FillUnmeasured(links);
  return links;
}

}  // namespace skerry::planner
