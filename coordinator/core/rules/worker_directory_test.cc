#include "coordinator/core/rules/worker_directory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

  Directory For(const Orders& orders, const std::string& island) {
    Worker reader;
    reader.island = island;
    return DirectoryFor(orders, {}, workers_, reader);
  }

  WorkerTable workers_{{}};
  uint64_t index_ = 0;
};

TEST_F(WorkerDirectoryTest, NamesEverybodyThatTheOrdersName) {
  for (const char* name :
       {"head", "source", "member", "holder", "data", "other"}) {
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
  job.data_holders = {"data"};
  EXPECT_EQ(For(orders, "b"), (Directory{{"head", {"head:1"}},
                                         {"source", {"source:1"}},
                                         {"member", {"member:1"}},
                                         {"holder", {"holder:1"}},
                                         {"data", {"data:1"}}}));
}

TEST_F(WorkerDirectoryTest, WorkersOfOneIslandGoByTheAddressInsideIt) {
  Admit({"w", "out:1", "in:1"}, "a");
  Orders orders;
  orders.jobs.emplace_back().holders = {Holder({"w", "out:1", "in:1"})};
  EXPECT_EQ(For(orders, "a"), (Directory{{"w", {"in:1"}}}));
  EXPECT_EQ(For(orders, "b"), (Directory{{"w", {"out:1"}}}));
  EXPECT_EQ(DirectoryOf({{1, {"w"}}}, workers_), (Directory{{"w", {"out:1"}}}));
}

TEST_F(WorkerDirectoryTest, EveryAddressIsToldInItsOrder) {
  Admit({"w", "out:1", "in:1", false, false, {"[::1]:2", "out:3"}}, "a");
  Admit({"v", "out:4", "", true, false, {"out:5"}}, "a");
  Orders orders;
  orders.jobs.emplace_back().holders = {Holder({"w", "", ""}),
                                        Holder({"v", "", ""})};
  EXPECT_EQ(For(orders, "a"), (Directory{{"w", {"in:1"}}, {"v", {"out:4"}}}));
  EXPECT_EQ(For(orders, "b"),
            (Directory{{"w", {"out:1", "[::1]:2", "out:3"}},
                       {"v", {protocol::kReverse, "out:4", "out:5"}}}));
}

TEST_F(WorkerDirectoryTest, WhoHasRegisteredAnewIsWhereItIsNow) {
  const PeerAddress then{"w", "old:1", ""};
  Admit(then, "a");
  Orders orders;
  orders.jobs.emplace_back().holders = {Holder(then)};
  Admit({"w", "new:1", ""}, "a");
  EXPECT_EQ(For(orders, "b"), (Directory{{"w", {"new:1"}}}));
}

TEST_F(WorkerDirectoryTest, WhoIsForgottenIsWhereTheRecordSays) {
  Orders orders;
  orders.jobs.emplace_back().holders = {Holder({"w", "old:1", "in:1"})};
  orders.jobs.back().checkpoint.emplace().pieces = {{1, {"nobody"}}};
  EXPECT_EQ(For(orders, "b"), (Directory{{"w", {"old:1"}}}));
}

class HiddenWorkersTest : public WorkerDirectoryTest {
 protected:
  HiddenWorkersTest() {
    Admit({"hidden", "h:1", "in:1", true}, "a");
    Admit({"open", "o:1", ""}, "b");
    Admit({"far", "f:1", "", true}, "c");
    orders_.jobs.emplace_back().holders = {Holder({"hidden", "", ""}),
                                           Holder({"open", "", ""}),
                                           Holder({"far", "", ""})};
  }
  Directory Of(const std::string& reader) {
    return DirectoryFor(orders_, {}, workers_, *workers_.FindCurrent(reader));
  }
  std::vector<std::string> Awaits(const std::string& reader) {
    return AwaitedBy(Of(reader), workers_, *workers_.FindCurrent(reader));
  }
  using Names = std::vector<std::string>;

  Orders orders_;
};

TEST_F(HiddenWorkersTest, WhoCanBeDialledWaitsForTheStreamsOfTheOthers) {
  EXPECT_EQ(Of("open"), (Directory{{"hidden", {protocol::kReverse, "h:1"}},
                                   {"open", {"o:1"}},
                                   {"far", {protocol::kReverse, "f:1"}}}));
  EXPECT_EQ(Awaits("open"), Names());
  EXPECT_EQ(Awaits("hidden"), Names{"open"});
  EXPECT_EQ(Awaits("far"), Names{"open"});
}

TEST_F(HiddenWorkersTest, TwoThatCannotReachEachOtherAreLeftOut) {
  EXPECT_EQ(Of("hidden"), (Directory{{"hidden", {"in:1"}}, {"open", {"o:1"}}}));
}

TEST_F(HiddenWorkersTest, TwoThatHaveARelayMeetThere) {
  Admit({"hub", "r:1", "", false, true}, "d");
  EXPECT_EQ(Of("hidden"),
            (Directory{{"hidden", {"in:1"}},
                       {"open", {"o:1"}},
                       {"far", {protocol::ViaRelay("hub"), "f:1"}}}));
  EXPECT_EQ(Awaits("hidden"), (Names{"far", "open"}));
  Directory with_relays = Of("hidden");
  AddRelays(workers_, *workers_.FindCurrent("hidden"), with_relays);
  EXPECT_EQ(with_relays.at("hub"), Names{"r:1"});
  EXPECT_EQ(with_relays.size(), 4u);
}

TEST_F(HiddenWorkersTest, WorkersOfOneIslandAreDialledAllTheSame) {
  Admit({"mate", "m:1", "in:2", true}, "a");
  EXPECT_EQ(Of("mate"), (Directory{{"hidden", {"in:1"}}, {"open", {"o:1"}}}));
  EXPECT_EQ(Awaits("mate"), Names{"open"});
}

TEST_F(HiddenWorkersTest, OthersAreNamedToo) {
  EXPECT_EQ(
      DirectoryFor({}, {"hidden"}, workers_, *workers_.FindCurrent("open")),
      (Directory{{"hidden", {protocol::kReverse, "h:1"}}}));
}

TEST_F(HiddenWorkersTest, AnOlderWorkerIsSentNoStreams) {
  protocol::StatusFacts status;
  status.self.worker = "open";
  status.counter = 1;
  workers_.Heard(status, Instant());
  EXPECT_EQ(Awaits("hidden"), Names());
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
