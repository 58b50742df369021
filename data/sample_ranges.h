// data/sample_ranges.h
//
// Sets of positions of a run, and arithmetic on them. They tell which positions
// are leased, consumed and free.
#ifndef SKERRY_DATA_SAMPLE_RANGES_H_
#define SKERRY_DATA_SAMPLE_RANGES_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace skerry::data {

// Positions begin, begin + 1, ..., end - 1 of a run. Empty when end <= begin.
struct SampleRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  constexpr uint64_t size() const { return end > begin ? end - begin : 0; }
  friend constexpr bool operator==(const SampleRange&,
                                   const SampleRange&) = default;
};

// A set of positions. Invariant: the ranges held are not empty, ascend, and
// neither overlap nor touch, so equal sets have equal ranges.
class RangeSet {
 public:
  RangeSet() = default;
  // Takes ranges in any order; they may overlap or be empty.
  explicit RangeSet(std::span<const SampleRange> ranges);
  explicit RangeSet(SampleRange range);
  RangeSet(std::initializer_list<SampleRange> ranges)
      : RangeSet(std::span(ranges.begin(), ranges.size())) {}

  std::span<const SampleRange> ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  // How many positions the set holds.
  uint64_t total() const;
  bool Contains(uint64_t position) const;
  // Whether every position of `other` is in this set.
  bool ContainsAll(const RangeSet& other) const;

  RangeSet Union(const RangeSet& other) const;
  RangeSet Subtract(const RangeSet& other) const;
  RangeSet Intersect(const RangeSet& other) const;

  // Removes the `count` lowest positions, or all when there are fewer, and
  // returns them.
  RangeSet TakeFirst(uint64_t count);

  friend bool operator==(const RangeSet&, const RangeSet&) = default;

 private:
  std::vector<SampleRange> ranges_;
};

}  // namespace skerry::data

#endif  // SKERRY_DATA_SAMPLE_RANGES_H_
