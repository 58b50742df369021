#include "coordinator/core/log/coverage.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

constexpr FragmentId kFirst{0};
constexpr FragmentId kSecond{1};

data::RangeSet Set(uint64_t begin, uint64_t end) {
  return data::RangeSet(data::SampleRange{begin, end});
}

TEST(CoverageTest, KnowsWhatEachFragmentHadAtEarlierSequences) {
  Coverage coverage(Set(0, 2), 2);
  coverage.Commit(kFirst, Sequence(1), Set(2, 6));
  coverage.Commit(kFirst, Sequence(2), Set(6, 8));
  coverage.Commit(kSecond, Sequence(1), Set(2, 8));
  EXPECT_EQ(coverage.At(kFirst, Sequence(), Sequence(2)), Set(0, 2));
  EXPECT_EQ(coverage.At(kFirst, Sequence(1), Sequence(2)), Set(0, 6));
  EXPECT_EQ(coverage.At(kSecond, Sequence(1), Sequence(1)), Set(0, 8));
  EXPECT_TRUE(coverage.Partly().empty());
}

TEST(CoverageTest, PartlyIsWhatSomeFragmentLacks) {
  Coverage coverage({}, 3);
  coverage.Commit(kFirst, Sequence(1), Set(0, 6));
  coverage.Commit(kSecond, Sequence(1), Set(4, 8));
  coverage.Commit(FragmentId(2), Sequence(1), Set(5, 6));
  EXPECT_EQ(coverage.Partly().total(), 7u);
  coverage.GoBack({Set(0, 4), Set(0, 4), Set(0, 3)});
  EXPECT_EQ(coverage.Partly(), Set(3, 4));
  // What was before is not known any more.
  EXPECT_FALSE(coverage.At(kFirst, Sequence(), Sequence(1)).has_value());
}

TEST(CoverageTest, ASnapshotIsOfTheSameNumberOfFragments) {
  Coverage two({}, 2);
  two.Commit(kSecond, Sequence(1), Set(0, 6));
  Coverage again({}, 2);
  ASSERT_TRUE(again.Restore(two.Save(), {}).ok());
  EXPECT_EQ(again.Save(), two.Save());
  EXPECT_EQ(again.Of(kSecond), Set(0, 6));
  Coverage one({}, 1);
  EXPECT_FALSE(one.Restore(two.Save(), Set(0, 6)).ok());
}

TEST(CoverageTest, OneFragmentHasWhatTheJobHasConsumed) {
  Coverage one({}, 1);
  one.Commit(kFirst, Sequence(1), Set(0, 6));
  EXPECT_TRUE(one.Save().covered.empty());
  Coverage again({}, 1);
  ASSERT_TRUE(again.Restore(one.Save(), Set(0, 6)).ok());
  EXPECT_EQ(again.Of(kFirst), Set(0, 6));
  StateHasher fresh;
  StateHasher hasher;
  one.HashInto(hasher);
  EXPECT_EQ(hasher.value(), fresh.value());
}

}  // namespace
}  // namespace skerry::coordinator
