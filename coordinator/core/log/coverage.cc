#include "coordinator/core/log/coverage.h"

#include <utility>

#include "base/check.h"

namespace skerry::coordinator {
namespace {

// More than any worker's newest base is behind.
constexpr size_t kTakenMax = 256;

}  // namespace

void Coverage::Commit(FragmentId fragment, Sequence sequence,
                      const data::RangeSet& ranges) {
  data::RangeSet& covered = covered_[fragment.value()];
  auto& taken = taken_[fragment.value()];
  taken[sequence] = ranges.Subtract(covered);
  if (taken.size() > kTakenMax) taken.erase(taken.begin());
  covered = covered.Union(ranges);
}

void Coverage::GoBack(std::vector<data::RangeSet> covered) {
  SKERRY_CHECK(covered.size() == covered_.size());
  covered_ = std::move(covered);
  for (auto& taken : taken_) taken.clear();
}

std::optional<data::RangeSet> Coverage::At(FragmentId fragment,
                                           Sequence sequence,
                                           Sequence newest) const {
  data::RangeSet covered = covered_[fragment.value()];
  const auto& taken = taken_[fragment.value()];
  for (Sequence later = Next(sequence); later <= newest; later = Next(later)) {
    const auto it = taken.find(later);
    if (it == taken.end()) return std::nullopt;
    covered = covered.Subtract(it->second);
  }
  return covered;
}

data::RangeSet Coverage::Partly() const {
  data::RangeSet some = covered_.front();
  data::RangeSet all = covered_.front();
  for (const data::RangeSet& covered : covered_) {
    some = some.Union(covered);
    all = all.Intersect(covered);
  }
  return some.Subtract(all);
}

CoverageSnapshot Coverage::Save() const {
  CoverageSnapshot saved;
  if (covered_.size() > 1) saved.covered = covered_;
  for (size_t f = 0; f < taken_.size(); ++f) {
    for (const auto& [sequence, ranges] : taken_[f]) {
      saved.taken.push_back({FragmentId(f), sequence, ranges});
    }
  }
  return saved;
}

absl::Status Coverage::Restore(const CoverageSnapshot& saved,
                               const data::RangeSet& consumed) {
  if (saved.covered.size() != (covered_.size() > 1 ? covered_.size() : 0)) {
    return absl::DataLossError(
        "what is covered is that of another number of fragments");
  }
  covered_.front() = consumed;
  if (!saved.covered.empty()) covered_ = saved.covered;
  for (const CoverageSnapshot::Taken& one : saved.taken) {
    if (one.fragment.value() >= taken_.size()) {
      return absl::DataLossError("a commit of a fragment that is not there");
    }
    taken_[one.fragment.value()][one.sequence] = one.ranges;
  }
  return absl::OkStatus();
}

void Coverage::HashInto(StateHasher& hasher) const {
  if (covered_.size() == 1) return;
  for (const data::RangeSet& covered : covered_) hasher.Add(covered);
}

}  // namespace skerry::coordinator
