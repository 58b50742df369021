#include "protocol/convert/reach.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace skerry::protocol {
namespace {

TEST(ReachTest, OrdersAndOutcomesSurviveTheWay) {
  const TryOrder order{"w", Incarnation(7), {"h:1", "[::1]:2"}, true};
  Repeated<v1::TryOrder> orders;
  TryToProto(order, orders.Add());
  EXPECT_EQ(TriesFromProto(orders), std::vector<TryOrder>{order});
  const std::vector<Tried> found = {
      {"w", Incarnation(7), absl::Milliseconds(250), 12.5, ""},
      {"v", Incarnation(8), absl::ZeroDuration(), 0, "Connection refused"}};
  Repeated<v1::Tried> list;
  for (const Tried& one : found) TriedToProto(one, list.Add());
  EXPECT_EQ(TriedFromProto(list).value(), found);
}

TEST(ReachTest, AnOrderThatIsOfNoUseIsLeftOut) {
  Repeated<v1::TryOrder> orders;
  v1::TryOrder* const no_name = orders.Add();
  no_name->set_incarnation(1);
  no_name->add_endpoints("h:1");
  v1::TryOrder* const no_incarnation = orders.Add();
  no_incarnation->set_worker("a");
  no_incarnation->add_endpoints("h:1");
  v1::TryOrder* const nowhere = orders.Add();
  nowhere->set_worker("a");
  nowhere->set_incarnation(1);
  nowhere->add_endpoints("two\nlines");
  EXPECT_TRUE(TriesFromProto(orders).empty());
}

TEST(ReachTest, AnOutcomeThatMakesNoSenseIsRefusedWithItsField) {
  const auto refused = [](auto spoil) {
    Repeated<v1::Tried> list;
    TriedToProto({"w", Incarnation(7), absl::ZeroDuration(), 1, ""},
                 list.Add());
    spoil(list);
    return std::string(TriedFromProto(list).status().message());
  };
  EXPECT_EQ(refused([](auto&) {}), "");
  EXPECT_NE(refused([](auto& list) {
              list[0].set_worker("a b");
            }).find("tried.worker"),
            std::string::npos);
  for (const double ms : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_NE(refused([ms](auto& list) {
                list[0].set_round_trip_ms(ms);
              }).find("tried.round_trip_ms"),
              std::string::npos);
  }
  EXPECT_NE(refused([](auto& list) {
              list[0].set_error(std::string(2000, 'x'));
            }).find("tried.error"),
            std::string::npos);
  EXPECT_NE(refused([](auto& list) {
              for (int i = 0; i < 256; ++i) *list.Add() = v1::Tried(list[0]);
            }).find("more than 256"),
            std::string::npos);
}

TEST(ReachTest, APieceOrderSurvivesTheWayAndIsLeftOutWithoutItsPiece) {
  const PieceOrder order{5,
                         {.sequence = Sequence(9),
                          .span = 2,
                          .hash = 77,
                          .fragment = 1,
                          .job = JobId(3)},
                         4096};
  Repeated<v1::PieceOrder> orders;
  PieceOrderToProto(order, orders.Add());
  PieceOrderToProto({0, order.key, 0}, orders.Add());
  PieceOrderToProto({6, {}, 0}, orders.Add());
  EXPECT_EQ(PieceOrdersFromProto(orders), std::vector<PieceOrder>{order});
}

TEST(ReachTest, APieceThatCannotBeIsRefused) {
  v1::PieceKey key;
  AskedToProto({.sequence = Sequence(9),
                .span = 2,
                .hash = 77,
                .fragment = 1,
                .job = JobId(3)},
               &key);
  EXPECT_TRUE(AskedFromProto(key).ok());
  v1::PieceKey no_job = key, far = key, wide = key;
  no_job.clear_job();
  far.set_fragment(64);
  wide.set_span(4096);
  for (const v1::PieceKey& one : {no_job, far, wide}) {
    EXPECT_TRUE(absl::IsInvalidArgument(AskedFromProto(one).status()));
  }
}

}  // namespace
}  // namespace skerry::protocol
