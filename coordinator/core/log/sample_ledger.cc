#include "coordinator/core/log/sample_ledger.h"

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

SampleLedger::SampleLedger(uint64_t samples, data::RangeSet consumed,
                           size_t fragments)
    : samples_(samples),
      fragments_(fragments),
      free_(data::RangeSet(data::SampleRange{0, samples}).Subtract(consumed)),
      consumed_(std::move(consumed)) {}

absl::Status SampleLedger::Grant(Life life, const data::RangeSet& ranges) {
  if (!free_.ContainsAll(ranges)) return Misplaced("grant", life);
  free_ = free_.Subtract(ranges);
  Holding& holding = Hold(life);
  holding.leased = holding.leased.Union(ranges);
  return absl::OkStatus();
}

SampleLedger::Holding& SampleLedger::Hold(Life life) {
  Holding& holding = holdings_[life];
  if (fragments_ > 1 && holding.due.empty()) {
    holding.due.resize(fragments_);
    holding.missed.resize(fragments_);
  }
  return holding;
}

absl::Status SampleLedger::Return(Life life, FragmentId fragment,
                                  const data::RangeSet& ranges) {
  if (ranges.empty()) return absl::OkStatus();
  const auto it = holdings_.find(life);
  if (it == holdings_.end() ||
      !Deliverable(life, fragment).ContainsAll(ranges)) {
    return Misplaced("return", life);
  }
  Holding& holding = it->second;
  data::RangeSet returned = ranges.Intersect(holding.leased);
  if (fragments_ > 1) {
    const size_t f = fragment.value();
    holding.due[f] = holding.due[f].Subtract(ranges);
    holding.missed[f] = holding.missed[f].Union(returned);
    for (const data::RangeSet& missed : holding.missed) {
      returned = returned.Intersect(missed);
    }
    for (data::RangeSet& missed : holding.missed) {
      missed = missed.Subtract(returned);
    }
  }
  holding.leased = holding.leased.Subtract(returned);
  holding.dropped = holding.dropped.Union(returned);
  free_ = free_.Union(returned);
  return absl::OkStatus();
}

absl::Status SampleLedger::Consume(Life life, FragmentId fragment,
                                   const data::RangeSet& ranges) {
  const data::RangeSet fresh = ranges.Subtract(consumed_);
  const auto it = holdings_.find(life);
  if (it == holdings_.end()) {
    // Others have consumed all of what an ended life had.
    return fresh.empty() && fragments_ > 1 ? absl::OkStatus()
                                           : Misplaced("commit", life);
  }
  Holding& holding = it->second;
  const bool there = holding.ended && fragments_ > 1
                         ? holding.leased.ContainsAll(fresh)
                         : Deliverable(life, fragment).ContainsAll(ranges);
  if (!there) return Misplaced("commit", life);
  holding.leased = holding.leased.Subtract(fresh);
  for (size_t f = 0; f < holding.due.size(); ++f) {
    if (FragmentId(f) == fragment) {
      holding.due[f] = holding.due[f].Subtract(ranges);
    } else {
      holding.due[f] = holding.due[f].Union(fresh.Subtract(holding.missed[f]));
    }
    holding.missed[f] = holding.missed[f].Subtract(fresh);
  }
  consumed_ = consumed_.Union(fresh);
  if (holding.ended && holding.leased.empty()) holdings_.erase(it);
  return absl::OkStatus();
}

void SampleLedger::End(Life life, const data::RangeSet& named) {
  const auto it = holdings_.find(life);
  if (it == holdings_.end()) return;
  Holding& holding = it->second;
  free_ = free_.Union(holding.leased.Subtract(named));
  holding.leased = holding.leased.Intersect(named);
  holding.ended = true;
  // Nobody goes on with them; who counts sees that some fragments lack them.
  for (data::RangeSet& due : holding.due) due = data::RangeSet();
  for (data::RangeSet& missed : holding.missed) missed = data::RangeSet();
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

data::RangeSet SampleLedger::Deliverable(Life life, FragmentId fragment) const {
  const auto it = holdings_.find(life);
  if (it == holdings_.end()) return {};
  const Holding& holding = it->second;
  const size_t f = fragment.value();
  if (f >= holding.due.size()) return holding.leased;
  return holding.leased.Subtract(holding.missed[f]).Union(holding.due[f]);
}

data::RangeSet SampleLedger::Missed(Life life) const {
  data::RangeSet all;
  const auto it = holdings_.find(life);
  if (it == holdings_.end()) return all;
  for (const data::RangeSet& missed : it->second.missed) {
    all = all.Union(missed);
  }
  return all;
}

bool SampleLedger::HasDue(Life life) const {
  const auto it = holdings_.find(life);
  if (it == holdings_.end()) return false;
  for (const data::RangeSet& due : it->second.due) {
    if (!due.empty()) return true;
  }
  return false;
}

bool SampleLedger::AnyDue() const {
  for (const auto& [life, holding] : holdings_) {
    if (HasDue(life)) return true;
  }
  return false;
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
    for (const data::RangeSet& due : holding.due) hasher.Add(due);
    for (const data::RangeSet& missed : holding.missed) hasher.Add(missed);
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
  LedgerSnapshot saved{free_, consumed_, {}};
  for (const auto& [life, holding] : holdings_) {
    saved.holdings.push_back({life, holding.leased, holding.dropped,
                              holding.ended, holding.due, holding.missed});
  }
  return saved;
}

absl::Status SampleLedger::Restore(const LedgerSnapshot& saved) {
  free_ = saved.free;
  consumed_ = saved.consumed;
  for (const HoldingSnapshot& one : saved.holdings) {
    Holding& holding = Hold(one.life);
    holding.leased = one.leased;
    holding.dropped = one.dropped;
    holding.ended = one.ended;
    if (one.due.size() != holding.due.size() ||
        one.missed.size() != holding.missed.size()) {
      return absl::DataLossError(
          absl::StrCat("life ", one.life.value(),
                       " has samples of another number of "
                       "fragments"));
    }
    holding.due = one.due;
    holding.missed = one.missed;
  }
  if (CoversOnce()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the ledger does not hold each of ",
                                          samples_, " samples once"));
}

}  // namespace skerry::coordinator
