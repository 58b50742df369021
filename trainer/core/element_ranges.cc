#include "trainer/core/element_ranges.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::trainer {
namespace {

// RangeSet is made for positions of samples, but its arithmetic is the same for
// elements.
data::RangeSet ToSet(std::span<const ElementRange> ranges) {
  std::vector<data::SampleRange> parts;
  for (const ElementRange& range : ranges) {
    parts.push_back({range.begin, range.end});
  }
  return data::RangeSet(parts);
}

}  // namespace

absl::Status ValidateRanges(std::span<const ElementRange> ranges,
                            uint64_t bound) {
  for (const ElementRange& range : ranges) {
    if (range.begin >= range.end || range.end > bound) {
      return absl::InvalidArgumentError(
          absl::StrCat("elements [", range.begin, ", ", range.end,
                       ") are not a part of the ", bound, " there are"));
    }
  }
  return absl::OkStatus();
}

absl::Status CopyRanges(std::span<const ElementRange> ranges,
                        std::span<const float> from, std::span<float> to) {
  SKERRY_RETURN_IF_ERROR(
      ValidateRanges(ranges, std::min(from.size(), to.size())));
  for (const ElementRange& range : ranges) {
    std::copy(from.begin() + range.begin, from.begin() + range.end,
              to.begin() + range.begin);
  }
  return absl::OkStatus();
}

absl::Status ValidateOwners(std::span<const RankRange> owners,
                            std::span<const ElementRange> loaded,
                            uint64_t element_count, int rank, int size) {
  const data::RangeSet have = ToSet(loaded);
  std::vector<bool> owns(std::max(size, 0), false);
  uint64_t end = owners.empty() ? 0 : owners.front().range.begin;
  for (const RankRange& owner : owners) {
    if (owner.range.begin != end || owner.range.end <= end) {
      return absl::InvalidArgumentError(
          absl::StrCat("owners must follow each other without gaps; element ",
                       end, " is not where one begins"));
    }
    end = owner.range.end;
    if (owner.rank < 0 || owner.rank >= size) {
      return absl::InvalidArgumentError(absl::StrCat(
          "owner rank ", owner.rank, " is not in a group of ", size));
    }
    owns[owner.rank] = true;
    const ElementRange mine[] = {owner.range};
    if (owner.rank == rank && !have.ContainsAll(ToSet(mine))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "rank ", rank, " owns elements [", owner.range.begin, ", ",
          owner.range.end, ") but loads only a part of them"));
    }
  }
  if (end > element_count) {
    return absl::InvalidArgumentError(
        absl::StrCat("owners end at element ", end, " of ", element_count));
  }
  if (!owners.empty() && owners.front().range.begin == 0 &&
      end == element_count) {
    return absl::OkStatus();
  }
  // If owners cover only a part of the model, every rank has to own some of it.
  // A rank that is left out would wait for the others.
  for (int other = 0; other < size; ++other) {
    if (owns[other]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", other, " owns nothing of what is loaded"));
  }
  const ElementRange part[] = {{owners.front().range.begin, end}};
  if (!ToSet(part).ContainsAll(have)) {
    return absl::InvalidArgumentError(
        absl::StrCat("elements outside [", part[0].begin, ", ", end,
                     ") are loaded, of which nobody is the owner"));
  }
  return absl::OkStatus();
}

absl::Status ShareOwned(std::span<const RankRange> owners,
                        Collective& collective, std::span<float> state) {
  for (const RankRange& owner : owners) {
    SKERRY_RETURN_IF_ERROR(collective.Broadcast(
        state.subspan(owner.range.begin, owner.range.end - owner.range.begin),
        owner.rank));
  }
  return absl::OkStatus();
}

}  // namespace skerry::trainer
