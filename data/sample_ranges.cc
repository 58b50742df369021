#include "data/sample_ranges.h"

#include <algorithm>

namespace skerry::data {
namespace {

// Adds `range`, which begins no earlier than any range already there.
void Append(std::vector<SampleRange>& ranges, SampleRange range) {
  if (range.size() == 0) return;
  if (!ranges.empty() && range.begin <= ranges.back().end) {
    ranges.back().end = std::max(ranges.back().end, range.end);
  } else {
    ranges.push_back(range);
  }
}

}  // namespace

RangeSet::RangeSet(std::span<const SampleRange> ranges) {
  std::vector<SampleRange> sorted(ranges.begin(), ranges.end());
  std::erase_if(sorted, [](SampleRange range) { return range.size() == 0; });
  std::sort(sorted.begin(), sorted.end(),
            [](SampleRange a, SampleRange b) { return a.begin < b.begin; });
  for (const SampleRange range : sorted) Append(ranges_, range);
}

RangeSet::RangeSet(SampleRange range)
    : RangeSet(std::span<const SampleRange>(&range, 1)) {}

uint64_t RangeSet::total() const {
  uint64_t total = 0;
  for (const SampleRange range : ranges_) total += range.size();
  return total;
}

bool RangeSet::Contains(uint64_t position) const {
  const auto after = std::upper_bound(
      ranges_.begin(), ranges_.end(), position,
      [](uint64_t p, SampleRange range) { return p < range.begin; });
  return after != ranges_.begin() && position < std::prev(after)->end;
}

bool RangeSet::ContainsAll(const RangeSet& other) const {
  return Intersect(other) == other;
}

RangeSet RangeSet::Union(const RangeSet& other) const {
  RangeSet result;
  result.ranges_.reserve(ranges_.size() + other.ranges_.size());
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() || b != other.ranges_.end()) {
    const bool take_a = b == other.ranges_.end() ||
                        (a != ranges_.end() && a->begin <= b->begin);
    Append(result.ranges_, take_a ? *a++ : *b++);
  }
  return result;
}

RangeSet RangeSet::Subtract(const RangeSet& other) const {
  RangeSet result;
  auto cut = other.ranges_.begin();
  for (SampleRange rest : ranges_) {
    while (cut != other.ranges_.end() && cut->end <= rest.begin) ++cut;
    // A cut may reach into the next range too, so it is passed only when it
    // ends inside this one.
    for (auto c = cut; c != other.ranges_.end() && c->begin < rest.end; ++c) {
      Append(result.ranges_, {rest.begin, c->begin});
      rest.begin = c->end;
    }
    Append(result.ranges_, rest);
  }
  return result;
}

RangeSet RangeSet::Intersect(const RangeSet& other) const {
  RangeSet result;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    Append(result.ranges_,
           {std::max(a->begin, b->begin), std::min(a->end, b->end)});
    if (a->end < b->end) {
      ++a;
    } else {
      ++b;
    }
  }
  return result;
}

RangeSet RangeSet::TakeFirst(uint64_t count) {
  RangeSet taken;
  auto it = ranges_.begin();
  while (count > 0 && it != ranges_.end()) {
    if (it->size() > count) {
      Append(taken.ranges_, {it->begin, it->begin + count});
      it->begin += count;
      break;
    }
    count -= it->size();
    Append(taken.ranges_, *it++);
  }
  ranges_.erase(ranges_.begin(), it);
  return taken;
}

}  // namespace skerry::data
