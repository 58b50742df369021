#include "coordinator/core/state/owner_hold.h"

#include <algorithm>

namespace skerry::coordinator {
namespace {

// After so many exchanges links are measured anew.
constexpr uint32_t kHeldFor = 64;
// Shares that have disappointed are tried again after twice as many exchanges
// with equal shares as before, but no more than this.
constexpr uint32_t kEqualMost = 48;

planner::LinkFacts SlowestOf(
    const absl::btree_map<Life, planner::LinkFacts>& links) {
  return std::min_element(links.begin(), links.end(),
                          [](const auto& a, const auto& b) {
                            return planner::RateOf(a.second) <
                                   planner::RateOf(b.second);
                          })
      ->second;
}

}  // namespace

void OwnerHold::Measure() {
  held_.clear();
  equal_ = 0;
  equal_took_ = absl::ZeroDuration();
}

void OwnerHold::Hold(const std::vector<Life>& lives,
                     const planner::ExchangeShape& measured) {
  by_links_ = 0;
  for (size_t m = 0; m < lives.size(); ++m) {
    held_[lives[m]] = measured.members[m].link;
  }
}

bool OwnerHold::OnOpened(const std::vector<Life>& lives,
                         const std::vector<double>& bytes_per_element,
                         planner::ExchangeShape& measured) {
  const bool begins = held_.empty() && equal_ >= equal_needed_;
  if (begins) Hold(lives, measured);
  if (held_.empty()) {
    open_ = Open::kEqual;
    return false;
  }
  const planner::LinkFacts slowest = SlowestOf(held_);
  for (size_t m = 0; m < lives.size(); ++m) {
    const auto known = held_.find(lives[m]);
    measured.members[m].link = known == held_.end() ? slowest : known->second;
  }
  predicted_ = planner::LinkTime(measured, bytes_per_element);
  if (begins) slowdown_ = absl::FDivDuration(equal_took_, predicted_);
  open_ = Open::kByLinks;
  return true;
}

void OwnerHold::OnCommitted(absl::Duration took) {
  if (open_ == Open::kEqual) {
    ++equal_;
    equal_took_ = std::max(equal_took_, took);
  } else if (open_ == Open::kByLinks) {
    if (took > slowdown_ * predicted_) {
      equal_needed_ = std::min(2 * equal_needed_, kEqualMost);
      Measure();
    } else if (++by_links_ == kHeldFor) {
      equal_needed_ = kEqualLeast;
      Measure();
    }
  }
  open_ = Open::kOther;
}

}  // namespace skerry::coordinator
