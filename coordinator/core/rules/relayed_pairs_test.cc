#include "coordinator/core/rules/relayed_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/orders_of.h"
#include "job/testing/specs.h"

namespace skerry::coordinator {
namespace {

using Names = std::vector<std::string>;

const Instant kStart(absl::Seconds(1));

// A cluster in which a job for two islands waits. The workers west and east
// cannot be dialled, and hub can.
class RelayedPairsTest : public testing::Test {
 protected:
  RelayedPairsTest() { cluster_.Recovered(kStart); }

  void Come(const std::string& name, bool outbound_only, bool relay) {
    StatusFacts& status = statuses_[name];
    status.self = {name, name + ":1", "", outbound_only, relay};
    status.island = name;
    status.boot = Boot(++boots_);
    status.folder = FolderId(boots_);
    status.takes_streams = true;
    status.takes_relays = true;
    Speak(name);
    status.incarnation = View(name).incarnation;
  }
  // A Status that names the newest job, if there is one.
  void Speak(const std::string& name) {
    StatusFacts& status = statuses_[name];
    ++status.counter;
    const absl::Status heard = cluster_.OnStatus(status, now_);
    ASSERT_TRUE(heard.ok()) << heard;
    cluster_.TakeRecords();
  }
  void Submit() {
    const auto job = cluster_.Submit(job::SmallJob("job", 100), "key", now_);
    ASSERT_TRUE(job.ok()) << job.status();
    cluster_.TakeRecords();
    for (auto& [name, status] : statuses_) {
      status.jobs.resize(1);
      status.jobs[0].job = job->job;
      status.jobs[0].state = protocol::SeatState::kRecovering;
      if (name != "hub" && name != "spare") Speak(name);
    }
  }
  WorkerView View(const std::string& name) {
    return cluster_.ViewWorker(name, now_).value();
  }
  protocol::Orders Orders(const std::string& name) {
    return OrdersOf(cluster_, name, now_).value();
  }

  Cluster cluster_{ClusterOptions()};
  Instant now_ = kStart;
  absl::btree_map<std::string, StatusFacts> statuses_;
  uint64_t boots_ = 0;
};

TEST_F(RelayedPairsTest, AllThreeAreToldOfThePairOfAJob) {
  Come("hub", false, true);
  Come("west", true, false);
  Come("east", true, false);
  EXPECT_TRUE(Orders("hub").relayed.empty());
  Submit();
  const protocol::Orders west = Orders("west");
  EXPECT_EQ(west.directory.at("east"),
            (Names{protocol::ViaRelay("hub"), "east:1"}));
  EXPECT_EQ(west.directory.at("hub"), (Names{"hub:1"}));
  EXPECT_NE(std::find(west.awaited_by.begin(), west.awaited_by.end(), "east"),
            west.awaited_by.end());
  EXPECT_TRUE(west.relayed.empty());
  EXPECT_EQ(Orders("east").directory.at("west"),
            (Names{protocol::ViaRelay("hub"), "west:1"}));
  EXPECT_EQ(Orders("hub").relayed, (protocol::RelayedPairs{{"east", "west"}}));
  EXPECT_EQ(View("west").reached, "relay hub");
  EXPECT_EQ(View("west").relayed.at("east"), "hub");
  EXPECT_EQ(View("hub").reached, "dialled");
  EXPECT_EQ(View("hub").relayed_pairs, 1u);
}

// It takes part in no job, so it awaits no streams.
TEST_F(RelayedPairsTest, AMereRelayIsSentNoStreamsOfTheirOwn) {
  Come("west", true, false);
  Come("east", true, false);
  Come("spare", false, true);
  statuses_["spare"].draining = true;
  Speak("spare");
  Submit();
  EXPECT_EQ(Orders("west").directory.count("spare"), 1u);
  EXPECT_EQ(Orders("west").awaited_by, Names{"east"});
}

TEST_F(RelayedPairsTest, AnotherRelayTakesOverAtOnceAndAllAreTold) {
  Come("hub", false, true);
  Come("spare", false, true);
  Come("west", true, false);
  Come("east", true, false);
  Submit();
  const std::string first = View("west").relayed.at("east");
  const std::string second = first == "hub" ? "spare" : "hub";
  cluster_.TakeTouched();
  cluster_.OnStreamLost(first, statuses_[first].boot, now_);
  const Names touched = cluster_.TakeTouched();
  for (const std::string& name :
       {std::string("west"), std::string("east"), second}) {
    EXPECT_NE(std::find(touched.begin(), touched.end(), name), touched.end())
        << name;
  }
  cluster_.TakeRecords();
  EXPECT_EQ(View("west").reached, protocol::ViaRelay(second));
  EXPECT_TRUE(Orders(first).relayed.empty());
  EXPECT_EQ(Orders(second).relayed.size(), 1u);
}

// West cannot be dialled, and was not started so. Hub finds that out.
TEST_F(RelayedPairsTest, AWorkerThatIsFoundHiddenOpensTheStreamsFromThenOn) {
  Come("hub", false, false);
  Come("west", false, false);
  Submit();
  EXPECT_EQ(Orders("hub").directory.count("west"), 0u);
  const auto found = [this](const std::string& by, const std::string& worker,
                            const std::string& error) {
    now_ = now_ + absl::Seconds(1);
    statuses_[by].tried = {{worker, statuses_[worker].incarnation,
                            absl::ZeroDuration(), 5, error}};
    Speak(by);
  };
  ASSERT_EQ(Orders("hub").tries.size(), 1u);
  EXPECT_EQ(Orders("hub").tries[0].worker, "west");
  found("hub", "west", "Connection refused");
  EXPECT_TRUE(Orders("west").tries[0].again);
  found("west", "hub", "");
  EXPECT_TRUE(Orders("west").awaited_by.empty());
  EXPECT_EQ(View("west").reached, "dialled");
  found("hub", "west", "Connection refused");
  EXPECT_EQ(Orders("west").awaited_by, Names{"hub"});
  EXPECT_EQ(Orders("hub").directory.at("west"),
            (Names{protocol::kReverse, "west:1"}));
  EXPECT_EQ(View("west").reached, "reverse");
  EXPECT_TRUE(View("west").found_hidden);
  ASSERT_EQ(View("west").tried_by.size(), 1u);
  EXPECT_EQ(View("west").tried_by[0].error, "Connection refused");
  // A port is forwarded.
  found("hub", "west", "");
  EXPECT_TRUE(Orders("west").awaited_by.empty());
  EXPECT_EQ(View("west").reached, "dialled");
}

TEST_F(RelayedPairsTest, WithoutARelayTheSecondHasNoPlaceUntilOneComes) {
  Come("west", true, false);
  Come("east", true, false);
  Submit();
  ASSERT_EQ(View("east").unserved.size(), 1u);
  EXPECT_NE(View("east").unserved[0].reason.find(
                "start a worker that others can dial with --relay"),
            std::string::npos);
  EXPECT_EQ(View("west").reached, "reverse");
  Come("hub", false, true);
  EXPECT_TRUE(View("east").unserved.empty());
}

}  // namespace
}  // namespace skerry::coordinator
