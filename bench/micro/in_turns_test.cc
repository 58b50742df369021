#include "bench/micro/in_turns.h"

#include <vector>

#include "gtest/gtest.h"

namespace skerry::bench {
namespace {

TEST(SharesTest, OneFarOffTurnOfManyChangesNothing) {
  std::vector<double> shares(99, 0.5);
  shares.push_back(40.0);
  const Shares found = SharesOf(shares);
  EXPECT_EQ(found.median, 0.5);
  EXPECT_EQ(found.low, 0.5);
  EXPECT_EQ(found.high, 0.5);
  EXPECT_TRUE(found.settled);
}

TEST(SharesTest, TenthsAreLeftOutOnEitherSide) {
  std::vector<double> shares;
  for (int i = 99; i >= 0; --i) shares.push_back(i);
  const Shares found = SharesOf(shares);
  EXPECT_EQ(found.low, 10.0);
  EXPECT_EQ(found.median, 50.0);
  EXPECT_EQ(found.high, 90.0);
  EXPECT_FALSE(found.settled);
}

TEST(SharesTest, OneTurnIsAllThatIsKnown) {
  EXPECT_EQ(SharesOf({0.7}).median, 0.7);
}

TEST(InTurnsTest, EveryRoundTimesTheWorkOncePerTurnOfALoop) {
  int work = 0;
  int before = 0;
  std::vector<int> loops(2);
  InTurns turns;
  for (int round = 0; round < 2; ++round) {
    turns.Take(8, {[&] { ++work; },
                   {[&] { ++loops[0]; }, [&] { ++loops[1]; }},
                   [&] { ++before; }});
  }
  EXPECT_EQ(turns.seconds().size(), 16);
  EXPECT_EQ(before, 32);    // the work and a loop
  EXPECT_EQ(work, 16 + 2);  // and once to touch every page
  EXPECT_EQ(loops, (std::vector<int>{8 + 2, 8 + 2}));
}

}  // namespace
}  // namespace skerry::bench
