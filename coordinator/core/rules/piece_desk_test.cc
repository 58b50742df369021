#include "coordinator/core/rules/piece_desk.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace skerry::coordinator {
namespace {

using protocol::PieceOrder;

PieceOrder Order(uint64_t request) {
  return {request,
          {.sequence = Sequence(5),
           .span = 1,
           .hash = 77,
           .fragment = 0,
           .job = JobId(3)},
          0};
}

TEST(PieceDeskTest, EachWorkerIsToldWhatItIsAskedForUntilThatIsForgotten) {
  PieceDesk desk(4);
  EXPECT_TRUE(desk.Ask("a", Order(1)).ok());
  EXPECT_TRUE(desk.Ask("b", Order(2)).ok());
  EXPECT_EQ(desk.OrdersFor("a"), std::vector<PieceOrder>{Order(1)});
  EXPECT_EQ(desk.OrdersFor("b"), std::vector<PieceOrder>{Order(2)});
  EXPECT_TRUE(desk.OrdersFor("c").empty());
  // It is told until then, although it has begun.
  EXPECT_TRUE(desk.Begin(1, std::nullopt).ok());
  EXPECT_EQ(desk.OrdersFor("a").size(), 1u);
  desk.Forget(1);
  EXPECT_TRUE(desk.OrdersFor("a").empty());
  EXPECT_TRUE(absl::IsNotFound(desk.Begin(1, std::nullopt)));
}

TEST(PieceDeskTest, OnlyTheWorkerThatWasAskedMaySend) {
  PieceDesk desk(4);
  EXPECT_TRUE(desk.Ask("a", Order(1)).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(desk.Begin(1, "b")));
  EXPECT_TRUE(desk.Begin(1, "a").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(desk.Begin(1, "a")));
  EXPECT_TRUE(absl::IsNotFound(desk.Begin(2, "a")));
}

TEST(PieceDeskTest, ItsPlacesAreBounded) {
  PieceDesk desk(2);
  EXPECT_TRUE(desk.Ask("a", Order(1)).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(desk.Ask("a", Order(1))));
  EXPECT_TRUE(desk.Ask("a", Order(2)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(desk.Ask("a", Order(3))));
  desk.Forget(1);
  EXPECT_TRUE(desk.Ask("a", Order(3)).ok());
}

}  // namespace
}  // namespace skerry::coordinator
