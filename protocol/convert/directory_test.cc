#include "protocol/convert/directory.h"

#include <gtest/gtest.h>

#include <string>

namespace skerry::protocol {
namespace {

SpanHolder At(const std::string& worker, const std::string& address,
              const std::string& inside = "") {
  return {0, 1, {worker, address, inside}, 0};
}

// Makes orders of a coordinator that sends no directory.
Orders Older() {
  Orders orders;
  JobOrders& job = orders.jobs.emplace_back();
  job.holders = {At("own", "out:1", "in:1"), At("mate", "out:2", "in:2")};
  FragmentOrders& fragment = job.fragments.emplace_back();
  fragment.sources.push_back({At("mate", "out:2", "in:2"), {}, {}, {}, {}});
  fragment.open.emplace().members.emplace_back().holders = {
      At("far", "out:3", "in:3")};
  job.checkpoint.emplace().pieces = {{7, {"out:2", "out:3", "out:4"}}};
  return orders;
}

TEST(DirectoryTest, SurvivesTheWay) {
  const Directory directory = {{"a", {"h:1", "h:2"}},
                               {"b", {"h:3"}},
                               {"c", {kReverse, "h:4"}},
                               {"d", {ViaRelay("r"), "h:5"}}};
  EndpointsProto out;
  DirectoryToProto(directory, &out);
  EXPECT_EQ(DirectoryFromProto(out), directory);
}

TEST(DirectoryTest, AnEntryThatIsOfNoUseIsLeftOut) {
  EndpointsProto entries;
  entries.Add()->set_worker("without endpoint");
  v1::Endpoints* nameless = entries.Add();
  nameless->add_endpoints("h:1");
  v1::Endpoints* odd = entries.Add();
  odd->set_worker("a");
  odd->add_endpoints("two\nlines");
  odd->add_endpoints(kReverse);
  odd->add_endpoints(ViaRelay("r"));
  odd->add_endpoints("h:2");
  EXPECT_EQ(DirectoryFromProto(entries), (Directory{{"a", {"h:2"}}}));
}

TEST(DirectoryTest, APieceHasNamesAndForOlderReleasesAddresses) {
  const StatePiece piece{7, {"a", "b"}};
  v1::StatePiece out;
  PieceToProto(piece, {{"a", {kReverse, "h:1"}}, {"b", {"h:2", "h:3"}}}, &out);
  EXPECT_EQ(PieceFromProto(out), piece);
  ASSERT_EQ(out.addresses_size(), 2);
  EXPECT_EQ(out.addresses(0), "h:1");
  EXPECT_EQ(out.addresses(1), "h:2");
  out.clear_workers();
  EXPECT_EQ(PieceFromProto(out), (StatePiece{7, {"h:1", "h:2"}}));
}

TEST(DirectoryTest, OrdersOfOlderCoordinatorsSayWhereTheirWorkersAre) {
  Orders orders = Older();
  FillDirectory(orders);
  EXPECT_EQ(orders.directory, (Directory{{"own", {"in:1"}},
                                         {"mate", {"in:2"}},
                                         {"far", {"out:3"}},
                                         {"out:4", {"out:4"}}}));
  EXPECT_EQ(orders.jobs[0].checkpoint->pieces[0].workers,
            (std::vector<std::string>{"mate", "far", "out:4"}));
}

TEST(DirectoryTest, OrdersWithADirectoryStayAsTheyAre) {
  Orders orders = Older();
  orders.directory = {{"far", {"h:9"}}};
  const Orders before = orders;
  FillDirectory(orders);
  EXPECT_EQ(orders, before);
}

}  // namespace
}  // namespace skerry::protocol
