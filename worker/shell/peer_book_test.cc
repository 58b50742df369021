#include "worker/shell/peer_book.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using testing::UnorderedElementsAre;

protocol::SpanHolder HolderOf(const std::string& worker) {
  return {0, 1, {worker, worker + ":1", ""}};
}

// One open exchange between these workers of replica 1 and 2.
protocol::JobOrders Orders(const std::vector<std::string>& first,
                           const std::string& second) {
  protocol::JobOrders orders;
  orders.job = JobId(7);
  protocol::FragmentOrders& fragment = orders.fragments.emplace_back();
  fragment.open.emplace();
  protocol::Member& one = fragment.open->members.emplace_back();
  one.replica = ReplicaId(1);
  for (const std::string& worker : first) {
    one.holders.push_back(HolderOf(worker));
  }
  protocol::Member& two = fragment.open->members.emplace_back();
  two.replica = ReplicaId(2);
  two.holders = {HolderOf(second)};
  return orders;
}

TEST(PeerBookTest, OnlyAReplicasWorkersSpeakForIt) {
  PeerBook book("self");
  book.Learn(Orders({"a0", "a1"}, "b"));
  EXPECT_TRUE(book.MaySpeakFor(JobId(7), ReplicaId(1), "a0"));
  EXPECT_TRUE(book.MaySpeakFor(JobId(7), ReplicaId(1), "a1"));
  EXPECT_FALSE(book.MaySpeakFor(JobId(7), ReplicaId(1), "b"));
  EXPECT_FALSE(book.MaySpeakFor(JobId(7), ReplicaId(2), "a0"));
  // What is not named is for the exchange to judge.
  EXPECT_TRUE(book.MaySpeakFor(JobId(7), ReplicaId(3), "a0"));
  EXPECT_TRUE(book.MaySpeakFor(JobId(8), ReplicaId(1), "b"));
}

TEST(PeerBookTest, TheNewestOrdersCount) {
  PeerBook book("self");
  book.Learn(Orders({"a0"}, "b"));
  book.Learn(Orders({"a9"}, "b"));
  EXPECT_FALSE(book.MaySpeakFor(JobId(7), ReplicaId(1), "a0"));
  protocol::JobOrders closed;
  closed.job = JobId(7);
  book.Learn(closed);
  EXPECT_FALSE(book.MaySpeakFor(JobId(7), ReplicaId(1), "a0"));
  book.KeepOnly({8});
  EXPECT_TRUE(book.MaySpeakFor(JobId(7), ReplicaId(1), "a0"));
}

using Right = PeerBook::FetchRight;

// Orders of job 7 that name these as its workers.
protocol::JobOrders WithWorkers(const std::vector<std::string>& workers) {
  protocol::JobOrders orders = Orders({"a0"}, "b");
  for (const std::string& worker : workers) {
    orders.workers.push_back(worker);
  }
  return orders;
}

TEST(PeerBookTest, TheJobsWorkersFetchItsState) {
  PeerBook book("self");
  book.Learn(WithWorkers({"joiner", "self"}));
  EXPECT_EQ(book.MayFetch(JobId(7), "joiner", Instant()), Right::kYes);
  // Members of the open exchange.
  EXPECT_EQ(book.MayFetch(JobId(7), "a0", Instant()), Right::kYes);
  EXPECT_NE(book.MayFetch(JobId(7), "thief", Instant()), Right::kYes);
  // Who serves no such job says so itself.
  EXPECT_EQ(book.MayFetch(JobId(8), "thief", Instant()), Right::kYes);
}

TEST(PeerBookTest, WhoIsNotNamedIsRefusedForGoodAfterAWhile) {
  PeerBook book("self");
  book.Learn(WithWorkers({"self"}));
  const Instant before = Instant() + PeerBook::kNamedWithin / 2;
  const Instant after = Instant() + PeerBook::kNamedWithin;
  EXPECT_EQ(book.MayFetch(JobId(7), "thief", Instant()), Right::kNotYet);
  EXPECT_EQ(book.MayFetch(JobId(7), "thief", before), Right::kNotYet);
  // The next orders do not name it either.
  book.Learn(WithWorkers({"self"}));
  EXPECT_EQ(book.MayFetch(JobId(7), "thief", after), Right::kNo);
  // Once it is named and has left again, its time begins anew.
  book.Learn(WithWorkers({"self", "thief"}));
  EXPECT_EQ(book.MayFetch(JobId(7), "thief", after), Right::kYes);
  book.Learn(WithWorkers({"self"}));
  EXPECT_EQ(book.MayFetch(JobId(7), "thief", after), Right::kNotYet);
}

TEST(PeerBookTest, OnlySoManyAreRemembered) {
  PeerBook book("self");
  book.Learn(WithWorkers({"self"}));
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(book.MayFetch(JobId(7), std::to_string(i), Instant()),
              Right::kNotYet);
  }
  EXPECT_EQ(book.MayFetch(JobId(7), "thief", Instant()), Right::kNo);
}

// Coordinators of earlier releases and orders of large jobs name some workers.
TEST(PeerBookTest, OrdersThatDoNotNameTheReaderRefuseNobody) {
  PeerBook book("self");
  book.Learn(WithWorkers({"other"}));
  EXPECT_EQ(book.MayFetch(JobId(7), "anybody", Instant()), Right::kYes);
}

TEST(PeerBookTest, ARankAsksForTheCutOfItsOwnReplica) {
  PeerBook book("self");
  protocol::JobOrders orders;
  orders.job = JobId(7);
  orders.life = Life(5);
  orders.holders = {HolderOf("self"), HolderOf("mate")};
  book.Learn(orders);
  EXPECT_TRUE(book.MayAskCut(JobId(7), Life(5), 1, "mate"));
  EXPECT_FALSE(book.MayAskCut(JobId(7), Life(5), 1, "thief"));
  EXPECT_FALSE(book.MayAskCut(JobId(7), Life(5), 0, "mate"));
  // The seat answers those.
  EXPECT_TRUE(book.MayAskCut(JobId(7), Life(5), 2, "mate"));
  EXPECT_TRUE(book.MayAskCut(JobId(7), Life(4), 1, "thief"));
  EXPECT_TRUE(book.MayAskCut(JobId(8), Life(5), 1, "thief"));
}

TEST(PeerBookTest, EveryNamedWorkerIsVisited) {
  protocol::JobOrders orders = Orders({"a"}, "b");
  orders.holders = {HolderOf("c")};
  orders.fragments.front().sources.push_back({HolderOf("d"), {}, {}, {}, {}});
  std::vector<std::string> visited;
  ForEachPeer(orders, [&](const protocol::PeerAddress& peer) {
    visited.push_back(peer.worker);
  });
  EXPECT_THAT(visited, UnorderedElementsAre("a", "b", "c", "d"));
}

}  // namespace
}  // namespace skerry::worker
