#include "coordinator/core/rules/exchange_shape.h"

#include <algorithm>
#include <string_view>

#include "absl/container/btree_map.h"
#include "coordinator/core/rules/encoded_bytes.h"
#include "coordinator/core/state/layout.h"
#include "planner/measured_links.h"

namespace skerry::coordinator {
namespace {

std::vector<planner::PairRate> MeasuredPairs(
    const JobState& job, const std::vector<Member>& members) {
  absl::btree_map<std::string_view, size_t> member_at;  // by worker
  for (size_t m = 0; m < members.size(); ++m) {
    for (const SpanHolder& holder : members[m].holders) {
      member_at.emplace(holder.peer.worker, m);
    }
  }
  std::vector<planner::PairRate> pairs;
  for (size_t m = 0; m < members.size(); ++m) {
    for (const SpanHolder& holder : members[m].holders) {
      const auto seat = job.seats.find(holder.peer.worker);
      if (seat == job.seats.end()) continue;
      for (const protocol::PeerLink& link : seat->second.facts.links) {
        const auto to = member_at.find(link.worker);
        if (to == member_at.end() || to->second == m) continue;
        pairs.push_back({m, to->second, link.bytes_per_s, link.rate_spread,
                         absl::Seconds(link.round_trip_s),
                         absl::Seconds(link.round_trip_spread_s)});
      }
    }
  }
  return pairs;
}

}  // namespace

std::optional<planner::ExchangeShape> MeasuredShape(const JobState& job,
                                                    const Opened& opened) {
  const auto links = planner::LinksOfMembers(
      opened.members.size(), MeasuredPairs(job, opened.members));
  if (!links.has_value()) return std::nullopt;
  const std::vector<uint64_t> spans = SpansOf(job, opened);
  planner::ExchangeShape shape;
  for (const uint64_t span : spans) shape.elements += span;
  shape.hops = opened.hops == Hops::kOne ? 1 : 2;
  for (size_t m = 0; m < opened.members.size(); ++m) {
    planner::ExchangeMember member;
    member.replica = opened.members[m].replica;
    member.link = (*links)[m];
    member.weight = opened.members[m].contribution.weight;
    shape.members.push_back(member);
  }
  if (shape.hops == 2) planner::SetOwners(spans, opened.owners, shape);
  return shape;
}

std::optional<absl::Duration> LongestRoundTrip(
    const JobState& job, const std::vector<Member>& members) {
  std::optional<absl::Duration> longest;
  for (const planner::PairRate& pair : MeasuredPairs(job, members)) {
    // A rate may be known before a round trip.
    if (pair.round_trip <= absl::ZeroDuration()) continue;
    longest = std::max(longest.value_or(absl::ZeroDuration()), pair.round_trip);
  }
  return longest;
}

std::vector<uint64_t> SpansOf(const JobState& job, const Opened& opened) {
  return SpanElements(job.element_count, job.spec.exchange.spans,
                      FragmentCount(job.spec), job.average_begin,
                      static_cast<uint32_t>(opened.fragment.value()));
}

std::vector<double> BytesPerElement(const JobState& job, const Opened& opened) {
  uint64_t elements = 0;
  for (const uint64_t span : SpansOf(job, opened)) elements += span;
  std::vector<double> bytes;
  for (const Member& member : opened.members) {
    bytes.push_back(EncodedBytes(member.codec, elements) /
                    static_cast<double>(elements));
  }
  return bytes;
}

absl::Duration PredictedTime(const JobState& job, const Opened& opened) {
  const auto shape = MeasuredShape(job, opened);
  return shape.has_value()
             ? planner::LinkTime(*shape, BytesPerElement(job, opened))
             : absl::ZeroDuration();
}

}  // namespace skerry::coordinator
