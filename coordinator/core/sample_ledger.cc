#include "coordinator/core/sample_ledger.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::coordinator {
namespace {

absl::Status Misplaced(const char* what, Life life) {
  return absl::DataLossError(
      absl::StrCat("life ", life.value(), ": ", what,
                   " of samples that are not where the journal left them"));
}

}  // namespace

SampleLedger::SampleLedger(uint64_t samples, data::RangeSet consumed)
    : samples_(samples),
      free_(data::RangeSet(data::SampleRange{0, samples}).Subtract(consumed)),
      consumed_(std::move(consumed)) {}

absl::Status SampleLedger::Grant(Life life, const data::RangeSet& ranges) {
  if (!free_.ContainsAll(ranges)) return Misplaced("grant", life);
  free_ = free_.Subtract(ranges);
  Holding& holding = holdings_[life];
  holding.leased = holding.leased.Union(ranges);
  return absl::OkStatus();
}

absl::Status SampleLedger::Return(Life life, const data::RangeSet& ranges) {
  if (ranges.empty()) return absl::OkStatus();
  const auto it = holdings_.find(life);
  if (it == holdings_.end() || !it->second.leased.ContainsAll(ranges)) {
    return Misplaced("return", life);
  }
  it->second.leased = it->second.leased.Subtract(ranges);
  it->second.dropped = it->second.dropped.Union(ranges);
  free_ = free_.Union(ranges);
  return absl::OkStatus();
}

absl::Status SampleLedger::Consume(Life life, const data::RangeSet& ranges) {
  const auto it = holdings_.find(life);
  if (it == holdings_.end() || !it->second.leased.ContainsAll(ranges)) {
    return Misplaced("commit", life);
  }
  it->second.leased = it->second.leased.Subtract(ranges);
  consumed_ = consumed_.Union(ranges);
  if (it->second.ended && it->second.leased.empty()) holdings_.erase(it);
  return absl::OkStatus();
}

void SampleLedger::End(Life life, const data::RangeSet& named) {
  const auto it = holdings_.find(life);
  if (it == holdings_.end()) return;
  Holding& holding = it->second;
  free_ = free_.Union(holding.leased.Subtract(named));
  holding.leased = holding.leased.Intersect(named);
  holding.ended = true;
  if (holding.leased.empty()) holdings_.erase(it);
}

void SampleLedger::KeepNamed(const data::RangeSet& named) {
  for (auto it = holdings_.begin(); it != holdings_.end();) {
    Holding& holding = it->second;
    if (!holding.ended) {
      ++it;
      continue;
    }
    free_ = free_.Union(holding.leased.Subtract(named));
    holding.leased = holding.leased.Intersect(named);
    it = holding.leased.empty() ? holdings_.erase(it) : std::next(it);
  }
}

void SampleLedger::GoBack(const data::RangeSet& consumed) {
  holdings_.clear();
  consumed_ = consumed;
  free_ = data::RangeSet(data::SampleRange{0, samples_}).Subtract(consumed);
}

data::RangeSet SampleLedger::LeasedTo(Life life) const {
  const auto it = holdings_.find(life);
  return it == holdings_.end() ? data::RangeSet() : it->second.leased;
}

data::RangeSet SampleLedger::Pick(Life life, uint64_t count) const {
  const auto it = holdings_.find(life);
  data::RangeSet allowed = it == holdings_.end() || it->second.dropped.empty()
                               ? free_
                               : free_.Subtract(it->second.dropped);
  return allowed.TakeFirst(count);
}

bool SampleLedger::HasFreeDroppedBy(Life life) const {
  const auto it = holdings_.find(life);
  return it != holdings_.end() && !it->second.dropped.Intersect(free_).empty();
}

void SampleLedger::HashInto(StateHasher& hasher) const {
  hasher.Add(samples_);
  hasher.Add(free_);
  hasher.Add(consumed_);
  hasher.Add(uint64_t{holdings_.size()});
  for (const auto& [life, holding] : holdings_) {
    hasher.Add(life);
    hasher.Add(holding.leased);
    hasher.Add(holding.dropped);
    hasher.Add(uint64_t{holding.ended});
  }
}

bool SampleLedger::CoversOnce() const {
  uint64_t total = free_.total() + consumed_.total();
  data::RangeSet all = free_.Union(consumed_);
  for (const auto& [life, holding] : holdings_) {
    total += holding.leased.total();
    all = all.Union(holding.leased);
  }
  return total == samples_ && all.total() == samples_;
}

void SampleLedger::CheckInvariants() const { SKERRY_CHECK(CoversOnce()); }

LedgerSnapshot SampleLedger::Save() const {
  LedgerSnapshot saved{RangesOf(free_), RangesOf(consumed_), {}};
  for (const auto& [life, holding] : holdings_) {
    saved.holdings.push_back({life, RangesOf(holding.leased),
                              RangesOf(holding.dropped), holding.ended});
  }
  return saved;
}

absl::Status SampleLedger::Restore(const LedgerSnapshot& saved) {
  free_ = data::RangeSet(saved.free);
  consumed_ = data::RangeSet(saved.consumed);
  for (const HoldingSnapshot& one : saved.holdings) {
    holdings_[one.life] = {data::RangeSet(one.leased),
                           data::RangeSet(one.dropped), one.ended};
  }
  if (CoversOnce()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the ledger does not hold each of ",
                                          samples_, " samples once"));
}

}  // namespace skerry::coordinator
