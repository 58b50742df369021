#include "coordinator/core/worker_directory.h"

#include <gtest/gtest.h>

#include <string>

namespace skerry::coordinator {
namespace {

using protocol::Directory;
using protocol::Orders;
using protocol::PeerAddress;

class WorkerDirectoryTest : public testing::Test {
 protected:
  // A process of the worker registers, the newest one of its name.
  void Admit(const PeerAddress& self, const std::string& island) {
    ++index_;
    ASSERT_TRUE(workers_
                    .Apply(Incarnation(index_),
                           WorkerAdmitted{self, Boot(index_), island, "",
                                          FolderId(1), Boot(index_)})
                    .ok());
  }
  static protocol::SpanHolder Holder(const PeerAddress& peer) {
    return {0, 1, peer, 0};
  }

  WorkerTable workers_{{}};
  uint64_t index_ = 0;
};

TEST_F(WorkerDirectoryTest, NamesEverybodyThatTheOrdersName) {
  for (const char* name : {"head", "source", "member", "holder", "other"}) {
    Admit({name, std::string(name) + ":1", ""}, "a");
  }
  Orders orders;
  protocol::JobOrders& job = orders.jobs.emplace_back();
  job.holders = {Holder({"head", "", ""})};
  protocol::FragmentOrders& fragment = job.fragments.emplace_back();
  fragment.sources.push_back({Holder({"source", "", ""}), {}, {}, {}, {}});
  fragment.open.emplace().members.emplace_back().holders = {
      Holder({"member", "", ""})};
  job.checkpoint.emplace().pieces = {{1, {"holder"}}};
  EXPECT_EQ(DirectoryFor(orders, workers_, "b"),
            (Directory{{"head", {"head:1"}},
                       {"source", {"source:1"}},
                       {"member", {"member:1"}},
                       {"holder", {"holder:1"}}}));
}

TEST_F(WorkerDirectoryTest, WorkersOfOneIslandGoByTheAddressInsideIt) {
  Admit({"w", "out:1", "in:1"}, "a");
  Orders orders;
  orders.jobs.emplace_back().holders = {Holder({"w", "out:1", "in:1"})};
  EXPECT_EQ(DirectoryFor(orders, workers_, "a"), (Directory{{"w", {"in:1"}}}));
  EXPECT_EQ(DirectoryFor(orders, workers_, "b"), (Directory{{"w", {"out:1"}}}));
  EXPECT_EQ(DirectoryOf({{1, {"w"}}}, workers_), (Directory{{"w", {"out:1"}}}));
}

TEST_F(WorkerDirectoryTest, WhoHasRegisteredAnewIsWhereItIsNow) {
  const PeerAddress then{"w", "old:1", ""};
  Admit(then, "a");
  Orders orders;
  orders.jobs.emplace_back().holders = {Holder(then)};
  Admit({"w", "new:1", ""}, "a");
  EXPECT_EQ(DirectoryFor(orders, workers_, "b"), (Directory{{"w", {"new:1"}}}));
}

TEST_F(WorkerDirectoryTest, WhoIsForgottenIsWhereTheRecordSays) {
  Orders orders;
  orders.jobs.emplace_back().holders = {Holder({"w", "old:1", "in:1"})};
  orders.jobs.back().checkpoint.emplace().pieces = {{1, {"nobody"}}};
  EXPECT_EQ(DirectoryFor(orders, workers_, "b"), (Directory{{"w", {"old:1"}}}));
}

TEST_F(WorkerDirectoryTest, LinksOfOlderWorkersGetTheNamesOfTheirPeers) {
  Admit({"w", "h:1", ""}, "a");
  std::vector<protocol::PeerLink> links = {
      {.worker = "x", .bytes_per_s = 1},
      {.worker = "", .bytes_per_s = 2, .address = "h:1"},
      {.worker = "", .bytes_per_s = 3, .address = "h:2"}};
  NameLinks(workers_, links);
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].worker, "x");
  EXPECT_EQ(links[1].worker, "w");
  EXPECT_EQ(links[1].bytes_per_s, 2);
}

}  // namespace
}  // namespace skerry::coordinator
