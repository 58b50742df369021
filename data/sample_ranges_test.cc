#include "data/sample_ranges.h"

#include <bitset>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

constexpr uint64_t kPositions = 64;
using Bitmap = std::bitset<kPositions>;

Bitmap ToBitmap(const RangeSet& set) {
  Bitmap bitmap;
  for (const SampleRange range : set.ranges()) {
    for (uint64_t p = range.begin; p < range.end; ++p) bitmap.set(p);
  }
  return bitmap;
}

void ExpectNormalized(const RangeSet& set) {
  uint64_t last_end = 0;
  bool first = true;
  for (const SampleRange range : set.ranges()) {
    EXPECT_LT(range.begin, range.end);
    EXPECT_TRUE(first || range.begin > last_end);
    last_end = range.end;
    first = false;
  }
}

std::vector<SampleRange> RandomRanges(Random& random) {
  std::vector<SampleRange> ranges(random.Below(8));
  for (SampleRange& range : ranges) {
    range.begin = random.Below(kPositions + 1);
    range.end = random.Below(kPositions + 1);
  }
  return ranges;
}

Bitmap ToBitmap(const std::vector<SampleRange>& ranges) {
  Bitmap bitmap;
  for (const SampleRange range : ranges) {
    for (uint64_t p = range.begin; p < range.end; ++p) bitmap.set(p);
  }
  return bitmap;
}

std::string Text(const RangeSet& set) {
  std::string text;
  for (const SampleRange range : set.ranges()) {
    absl::StrAppend(&text, range.begin, "-", range.end, " ");
  }
  return text;
}

// Compares one random case with bitmaps; returns the results as text.
std::string CheckOneCase(uint64_t seed) {
  Random random(seed);
  const std::vector<SampleRange> some = RandomRanges(random);
  const std::vector<SampleRange> others = RandomRanges(random);
  const RangeSet a(some);
  const RangeSet b(others);
  const Bitmap bits_a = ToBitmap(some);
  const Bitmap bits_b = ToBitmap(others);
  EXPECT_EQ(ToBitmap(a), bits_a);
  EXPECT_EQ(a.total(), bits_a.count());
  EXPECT_EQ(ToBitmap(a.Union(b)), bits_a | bits_b);
  EXPECT_EQ(ToBitmap(a.Subtract(b)), bits_a & ~bits_b);
  EXPECT_EQ(ToBitmap(a.Intersect(b)), bits_a & bits_b);
  EXPECT_EQ(a.ContainsAll(b), (bits_b & ~bits_a).none());
  for (uint64_t p = 0; p < kPositions; ++p) {
    EXPECT_EQ(a.Contains(p), bits_a.test(p));
  }
  RangeSet rest = a;
  const uint64_t count = random.Below(kPositions);
  const RangeSet taken = rest.TakeFirst(count);
  EXPECT_EQ(taken.total(), std::min<uint64_t>(count, bits_a.count()));
  EXPECT_EQ(ToBitmap(taken) | ToBitmap(rest), bits_a);
  EXPECT_TRUE((ToBitmap(taken) & ToBitmap(rest)).none());
  if (!taken.empty() && !rest.empty()) {
    EXPECT_LT(taken.ranges().back().end - 1, rest.ranges().front().begin);
  }
  for (const RangeSet& set :
       {a, b, a.Union(b), a.Subtract(b), a.Intersect(b), taken, rest}) {
    ExpectNormalized(set);
  }
  return Text(a.Union(b)) + Text(a.Subtract(b)) + Text(taken);
}

TEST(RangeSetPropertyTest, AgreesWithABitmapAndReplaysFromItsSeed) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    EXPECT_EQ(CheckOneCase(seed), CheckOneCase(seed));
    if (HasFailure()) return;
  }
}

TEST(RangeSetTest, EqualSetsAreEqualHoweverTheyWereBuilt) {
  const std::vector<SampleRange> pieces = {{5, 9}, {0, 5}, {7, 7}, {9, 3}};
  EXPECT_EQ(RangeSet(pieces), RangeSet(SampleRange{0, 9}));
}

TEST(RangeSetTest, WorksUpToTheLastPosition) {
  const RangeSet all(SampleRange{0, ~uint64_t{0}});
  EXPECT_EQ(all.total(), ~uint64_t{0});
  const RangeSet hole = all.Subtract(RangeSet(SampleRange{10, 20}));
  EXPECT_EQ(hole.total(), ~uint64_t{0} - 10);
  EXPECT_FALSE(hole.Contains(19));
  EXPECT_TRUE(hole.Contains(20));
}

}  // namespace
}  // namespace skerry::data
