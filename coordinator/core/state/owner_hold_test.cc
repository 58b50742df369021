#include "coordinator/core/state/owner_hold.h"

#include <vector>

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

const std::vector<Life> kLives = {Life(1), Life(2), Life(3)};

// Three members that own a third of 300 elements each.
planner::ExchangeShape Shape(const std::vector<double>& rates) {
  planner::ExchangeShape shape;
  shape.elements = 300;
  for (const double rate : rates) {
    planner::ExchangeMember member;
    member.link.up_bytes_per_s = member.link.down_bytes_per_s = rate;
    member.owned_elements = shape.elements / rates.size();
    shape.members.push_back(member);
  }
  return shape;
}

struct Holding {
  OwnerHold hold;
  planner::ExchangeShape shape;

  // Whether shares followed links in an exchange, which took so long with such
  // shares or with equal ones.
  bool Exchange(const std::vector<double>& rates, double by_links_s,
                double equal_s = 24) {
    shape = Shape(rates);
    const bool by_links = hold.OnOpened(kLives, {1, 1, 1}, shape);
    hold.OnCommitted(absl::Seconds(by_links ? by_links_s : equal_s));
    return by_links;
  }
  // How many exchanges with equal shares come before the next by links.
  int CountEqual() {
    int count = 0;
    while (!Exchange({100, 50, 20}, 15)) ++count;
    return count;
  }
};

TEST(OwnerHoldTest, LinksAreMeasuredWithEqualSharesFirst) {
  Holding holding;
  EXPECT_EQ(holding.CountEqual(), 3);
}

TEST(OwnerHoldTest, LinksAreHeldHoweverTheyAreMeasuredMeanwhile) {
  Holding holding;
  holding.CountEqual();
  EXPECT_TRUE(holding.Exchange({20, 50, 100}, 15));
  EXPECT_EQ(holding.shape.members[0].link.up_bytes_per_s, 100);
  EXPECT_EQ(holding.shape.members[2].link.up_bytes_per_s, 20);
}

TEST(OwnerHoldTest, WhoJoinsCountsAsTheSlowest) {
  Holding holding;
  holding.CountEqual();
  planner::ExchangeShape shape = Shape({100, 50, 70, 20});
  EXPECT_TRUE(holding.hold.OnOpened({Life(1), Life(2), Life(9), Life(3)},
                                    {1, 1, 1, 1}, shape));
  EXPECT_EQ(shape.members[1].link.up_bytes_per_s, 50);
  EXPECT_EQ(shape.members[2].link.up_bytes_per_s, 20);
}

// Equal shares take 24 s.
TEST(OwnerHoldTest, SharesThatSaveNothingGiveWayForLongerEachTime) {
  Holding holding;
  EXPECT_EQ(holding.CountEqual(), 3);
  EXPECT_TRUE(holding.Exchange({100, 50, 20}, 23.5));
  EXPECT_TRUE(holding.Exchange({100, 50, 20}, 24.5));
  EXPECT_EQ(holding.CountEqual(), 6);
  EXPECT_TRUE(holding.Exchange({100, 50, 20}, 30));
  EXPECT_EQ(holding.CountEqual(), 12);
}

TEST(OwnerHoldTest, AfterAWhileLinksAreMeasuredAnew) {
  Holding holding;
  holding.CountEqual();
  int held = 1;
  while (holding.Exchange({100, 50, 20}, 15)) ++held;
  EXPECT_EQ(held, 64);
  // The one that ended the loop was the first of three.
  EXPECT_EQ(holding.CountEqual(), 2);
}

TEST(OwnerHoldTest, OtherAttemptsTeachNothing) {
  Holding holding;
  holding.CountEqual();
  holding.hold.OnOther();
  holding.hold.OnCommitted(absl::Seconds(100));
  EXPECT_TRUE(holding.Exchange({100, 50, 20}, 15));
}

}  // namespace
}  // namespace skerry::coordinator
