#include "planner/hops.h"

#include "gtest/gtest.h"

namespace skerry::planner {
namespace {

TEST(HopsTest, DenseCodecsTakeOneHopForTwoAndTwoHopsForMore) {
  EXPECT_EQ(ChooseHops(1, 1e6, 1e6).hops, 0);
  EXPECT_EQ(ChooseHops(2, 1e6, 1e6).hops, 1);
  for (uint32_t members = 3; members <= 16; ++members) {
    const HopChoice choice = ChooseHops(members, 1e6, 1e6);
    EXPECT_EQ(choice.hops, 2);
    EXPECT_NEAR(choice.bytes_each, 2e6 * (members - 1) / members, 1e-6);
    EXPECT_FALSE(choice.reason.empty());
  }
}

TEST(HopsTest, SparseContributionsTakeOneHopWhileThatSendsLess) {
  // The union of three sparse terms is up to three times as dense.
  EXPECT_EQ(ChooseHops(3, 1e6, 3e6).hops, 1);
  EXPECT_EQ(ChooseHops(5, 1e6, 3e6).hops, 2);
}

TEST(HopsTest, TwoUncodedMembersTakeTwoHopsWhereTheDelayIsShorterThanStoring) {
  // 64 MB take a disk 64 ms.
  EXPECT_TRUE(TwoMembersTakeTwoHops(64e6, 64, absl::Milliseconds(63)));
  EXPECT_FALSE(TwoMembersTakeTwoHops(64e6, 64, absl::Milliseconds(65)));
  EXPECT_FALSE(TwoMembersTakeTwoHops(1e5, 64, absl::Milliseconds(1)));
  // One owner would get all, and then send all.
  EXPECT_FALSE(TwoMembersTakeTwoHops(64e6, 1, absl::Milliseconds(1)));
}

TEST(HopsTest, BytesAreThoseOfCountingTransfers) {
  for (uint32_t members = 2; members <= 6; ++members) {
    // Member 0 owns 1/G: it sends the rest to owners, its results to all.
    double two = 0.0;
    for (uint32_t j = 1; j < members; ++j) {
      two += 12.0 / members + 20.0 / members;
    }
    const double one = 12.0 * (members - 1);
    const HopChoice choice = ChooseHops(members, 12.0, 20.0);
    EXPECT_NEAR(choice.bytes_each, std::min(one, two), 1e-9);
  }
}

TEST(HopsTest, HopsThatAreChosenAlreadyAreDescribedWithTheirBytes) {
  EXPECT_EQ(DescribeHops(0, 1, 8e6, 8e6).reason,
            "one member: the exchange is local");
  EXPECT_EQ(DescribeHops(1, 2, 8e6, 8e6).reason,
            "2 members: one hop sends 8 MB each, two hops 8 MB and one delay "
            "more");
  EXPECT_EQ(DescribeHops(2, 2, 8e6, 8e6).reason,
            "2 members: two hops send 8 MB each, one hop 8 MB, which is twice "
            "as much to store");
  EXPECT_EQ(DescribeHops(2, 4, 3e6, 1e6).reason,
            "4 members: two hops send 3 MB each, one hop 9 MB");
}

}  // namespace
}  // namespace skerry::planner
