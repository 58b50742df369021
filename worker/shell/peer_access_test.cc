#include "worker/shell/peer_access.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

using testing::Each;
using testing::SizeIs;

class PeerAccessTest : public testing::Test, public runtime::LogSink {
 protected:
  PeerAccessTest() {
    runtime::InstallLogSink(this);
    protocol::JobOrders orders;
    orders.job = JobId(7);
    orders.life = Life(5);
    orders.holders = {{0, 1, {"self", "s:1", ""}}, {1, 2, {"mate", "m:1", ""}}};
    orders.workers = {"self", "mate"};
    access_.Learn(orders);
  }
  ~PeerAccessTest() override { runtime::InstallLogSink(nullptr); }
  void Write(runtime::Severity, std::string_view event,
             std::span<const runtime::LogField>) override {
    events_.emplace_back(event);
  }

  const Instant later_ = Instant() + PeerBook::kNamedWithin;
  PeerAccess access_{"self"};
  std::vector<std::string> events_;
};

TEST_F(PeerAccessTest, AStrangersFetchIsToldToWaitAndThenRefusedInALine) {
  EXPECT_TRUE(access_.CheckFetch({"mate", true}, JobId(7), Instant()).ok());
  const auto fetch = [&](Instant now) {
    return access_.CheckFetch({"thief", true}, JobId(7), now);
  };
  EXPECT_TRUE(absl::IsUnavailable(fetch(Instant())));
  EXPECT_THAT(events_, SizeIs(0));
  EXPECT_TRUE(absl::IsPermissionDenied(fetch(later_)));
  EXPECT_THAT(events_, testing::ElementsAre("worker.fetch.refused"));
}

// Operators, and everybody on a port in plaintext, which is on this machine.
TEST_F(PeerAccessTest, WhoHasNoWorkersCertificateIsNotAsked) {
  EXPECT_TRUE(access_.CheckFetch({"thief", false}, JobId(7), later_).ok());
}

TEST_F(PeerAccessTest, AnotherWorkersRankIsRefusedInALine) {
  const CutRequest request{Life(5), 1, Round(2), {Sequence(1)}};
  EXPECT_TRUE(access_.CheckCut("mate", JobId(7), request, later_).ok());
  EXPECT_TRUE(access_.CheckCut(std::nullopt, JobId(7), request, later_).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(
      access_.CheckCut("thief", JobId(7), request, later_)));
  EXPECT_THAT(events_, testing::ElementsAre("worker.cut.refused"));
}

TEST_F(PeerAccessTest, ARankMeetsItsOwnReplicaAlone) {
  const MeetRequest request{Life(5), 1, "a"};
  EXPECT_TRUE(access_.CheckMeet("mate", JobId(7), request, later_).ok());
  EXPECT_TRUE(access_.CheckMeet(std::nullopt, JobId(7), request, later_).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(
      access_.CheckMeet("thief", JobId(7), request, later_)));
  EXPECT_THAT(events_, testing::ElementsAre("worker.meet.refused"));
}

TEST_F(PeerAccessTest, ManyRefusalsDoNotFillTheLog) {
  const CutRequest request{Life(5), 1, Round(2), {Sequence(1)}};
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(access_.CheckCut("thief", JobId(7), request, later_).ok());
  }
  EXPECT_THAT(events_, SizeIs(20));
  EXPECT_THAT(events_, Each("worker.cut.refused"));
}

TEST_F(PeerAccessTest, EachKindOfRefusalIsCounted) {
  const CutRequest request{Life(5), 1, Round(2), {Sequence(1)}};
  access_.CheckCut("thief", JobId(7), request, later_).IgnoreError();
  access_.CheckCut("mate", JobId(7), request, later_).IgnoreError();
  access_.CheckMeet("thief", JobId(7), {Life(5), 1, "a"}, later_).IgnoreError();
  for (const Instant now : {Instant(), later_, later_}) {
    access_.CheckFetch({"thief", true}, JobId(7), now).IgnoreError();
  }
  std::vector<runtime::Metric> metrics;
  access_.AddMetrics(metrics);
  ASSERT_THAT(metrics, SizeIs(1));
  EXPECT_EQ(metrics[0].name, "skerry_worker_refused_total");
  std::vector<double> counts;
  for (const runtime::Sample& sample : metrics[0].samples) {
    counts.push_back(sample.value);
  }
  // Frames, fetches without the one that was told to wait, cuts and meetings.
  EXPECT_THAT(counts, testing::ElementsAre(0, 2, 1, 1));
}

}  // namespace
}  // namespace skerry::worker
