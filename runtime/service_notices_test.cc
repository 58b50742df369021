#include "runtime/service_notices.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/manual_loop.h"

namespace skerry::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ServiceNoticesTest : public testing::Test {
 protected:
  ServiceNotices Watched(absl::Duration watchdog) {
    return ServiceNotices(
        [this](const std::string& message) { sent_.push_back(message); },
        watchdog);
  }
  std::vector<std::string> Sent() { return std::exchange(sent_, {}); }

  ManualLoop loop_;
  std::string doing_ = "serves";

 private:
  std::vector<std::string> sent_;
};

TEST_F(ServiceNoticesTest, TellsTheStepsOfALife) {
  const ServiceNotices notices = Watched(absl::ZeroDuration());
  notices.Starting("reads its journal");
  notices.Ready("serves");
  notices.Stopping("ends");
  EXPECT_THAT(Sent(),
              ElementsAre("STATUS=reads its journal", "READY=1\nSTATUS=serves",
                          "STOPPING=1\nSTATUS=ends"));
}

TEST_F(ServiceNoticesTest, AStatusOfTwoLinesIsOneField) {
  Watched(absl::ZeroDuration()).Starting("one\nREADY=1");
  EXPECT_THAT(Sent(), ElementsAre("STATUS=one READY=1"));
}

TEST_F(ServiceNoticesTest, FeedsTwiceInTheTimeThatTheManagerWaits) {
  ServiceNotices notices = Watched(absl::Seconds(4));
  notices.FeedFrom(loop_, [this] { return doing_; });
  EXPECT_THAT(Sent(), ElementsAre("WATCHDOG=1\nSTATUS=serves"));
  loop_.Advance(absl::Milliseconds(1900));
  EXPECT_THAT(Sent(), IsEmpty());
  loop_.Advance(absl::Milliseconds(100));
  EXPECT_THAT(Sent(), ElementsAre("WATCHDOG=1"));
  loop_.Advance(absl::Seconds(4));
  EXPECT_THAT(Sent(), ElementsAre("WATCHDOG=1", "WATCHDOG=1"));
}

TEST_F(ServiceNoticesTest, APatientManagerHearsSoonWhatIsDone) {
  ServiceNotices notices = Watched(absl::Minutes(1));
  notices.FeedFrom(loop_, [this] { return doing_; });
  Sent();
  doing_ = "drains";
  loop_.Advance(absl::Seconds(5));
  EXPECT_THAT(Sent(), ElementsAre("WATCHDOG=1\nSTATUS=drains"));
}

TEST_F(ServiceNoticesTest, ALoopThatHangsDoesNotFeed) {
  ServiceNotices notices = Watched(absl::Seconds(30));
  notices.FeedFrom(loop_, [this] { return doing_; });
  Sent();
  loop_.Post([this] {
    loop_.SleepUntil(loop_.Now() + absl::Seconds(100));
    EXPECT_THAT(Sent(), IsEmpty());
  });
  loop_.RunUntilIdle();
  EXPECT_THAT(Sent(), ElementsAre("WATCHDOG=1"));
}

TEST_F(ServiceNoticesTest, SaysWhatIsDoneWhenItChanges) {
  ServiceNotices notices = Watched(absl::ZeroDuration());
  notices.FeedFrom(loop_, [this] { return doing_; });
  EXPECT_THAT(Sent(), ElementsAre("STATUS=serves"));
  loop_.Advance(absl::Minutes(1));
  EXPECT_THAT(Sent(), IsEmpty());
  doing_ = "waits for the coordinator";
  loop_.Advance(absl::Seconds(5));
  EXPECT_THAT(Sent(), ElementsAre("STATUS=waits for the coordinator"));
}

TEST_F(ServiceNoticesTest, WithoutAManagerNothingIsSaidAndNoTimerIsSet) {
  ServiceNotices notices(nullptr, absl::ZeroDuration());
  notices.Starting("starts");
  notices.Ready("serves");
  notices.FeedFrom(loop_, [this] { return doing_; });
  notices.Stopping("ends");
  EXPECT_FALSE(loop_.NextTimer().has_value());
}

}  // namespace
}  // namespace skerry::runtime
