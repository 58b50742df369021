#include "worker/daemon/peer_book.h"

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
  PeerBook book;
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
  PeerBook book;
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
