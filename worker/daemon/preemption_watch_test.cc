#include "worker/daemon/preemption_watch.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/log.h"
#include "runtime/testing/inline_executor.h"
#include "runtime/testing/manual_loop.h"

namespace skerry::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Events final : public runtime::LogSink {
 public:
  Events() { runtime::InstallLogSink(this); }
  ~Events() override { runtime::InstallLogSink(nullptr); }
  void Write(runtime::Severity, std::string_view event,
             std::span<const runtime::LogField> fields) override {
    names.emplace_back(event);
  }
  std::vector<std::string> names;
};

class PreemptionWatchTest : public testing::Test {
 protected:
  void Watch(absl::Duration lead = absl::Seconds(120), int sources = 1) {
    std::vector<NoticeSource> list;
    says_.assign(sources, Finding{});
    looks_.assign(sources, 0);
    for (int i = 0; i < sources; ++i) {
      list.push_back({absl::StrCat("s", i), absl::Seconds(5), [this, i] {
                        ++looks_[i];
                        return says_[i];
                      }});
    }
    watch_.emplace(loop_, executor_, std::move(list), lead,
                   [this](const std::optional<PendingNotice>& due) {
                     told_.push_back(due.has_value() ? due->source : "none");
                     deadline_ = due.has_value() ? due->deadline : Instant();
                   });
    watch_->Start();
    loop_.RunUntilIdle();
  }
  void Notice(int source, double seconds, const char* id = "a") {
    says_[source] =
        Finding{.notice = worker::Notice{id, "stop", absl::Seconds(seconds)}};
  }
  void Pass(double seconds) { loop_.Advance(absl::Seconds(seconds)); }

  Events events_;
  runtime::ManualLoop loop_;
  runtime::LoopExecutor executor_{loop_};
  std::vector<absl::StatusOr<Finding>> says_;
  std::vector<int> looks_;
  std::vector<std::string> told_;
  Instant deadline_;
  std::optional<PreemptionWatch> watch_;
};

TEST_F(PreemptionWatchTest, WithoutANoticeItLooksAgainAfterEachPause) {
  Watch();
  EXPECT_EQ(looks_[0], 1);
  Pass(4.9);
  EXPECT_EQ(looks_[0], 1);
  Pass(10.2);
  EXPECT_EQ(looks_[0], 4);
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_THAT(events_.names, IsEmpty());
}

TEST_F(PreemptionWatchTest, ANoticeIsToldAndLoggedOnce) {
  Watch();
  Notice(0, 120);
  Pass(60);
  EXPECT_THAT(told_, ElementsAre("s0"));
  EXPECT_EQ(deadline_, Instant(absl::Seconds(5 + 120)));
  EXPECT_THAT(events_.names, ElementsAre("worker.preemption.notice"));
}

TEST_F(PreemptionWatchTest, ADistantDeadlineIsWaitedFor) {
  Watch(absl::Seconds(60));
  Notice(0, 900);
  Pass(5);
  EXPECT_THAT(events_.names, ElementsAre("worker.preemption.notice"));
  Pass(839);
  EXPECT_THAT(told_, IsEmpty());
  Pass(1);
  EXPECT_THAT(told_, ElementsAre("s0"));
}

TEST_F(PreemptionWatchTest, AnEventThatStartsEarlyIsDueAtOnce) {
  Watch(absl::Seconds(60));
  Notice(0, 900);
  Pass(5);
  Notice(0, 0, "started");
  Pass(5);
  EXPECT_THAT(told_, ElementsAre("s0"));
  EXPECT_EQ(deadline_, loop_.Now());
}

TEST_F(PreemptionWatchTest, AWithdrawnNoticeIsToldAsWell) {
  Watch();
  Notice(0, 30);
  Pass(5);
  says_[0] = Finding{};
  Pass(5);
  EXPECT_THAT(told_, ElementsAre("s0", "none"));
  EXPECT_THAT(events_.names, ElementsAre("worker.preemption.notice",
                                         "worker.preemption.withdrawn"));
}

TEST_F(PreemptionWatchTest, ANoticeThatIsWithdrawnBeforeItIsDueChangesNothing) {
  Watch(absl::Seconds(60));
  Notice(0, 900);
  Pass(5);
  says_[0] = Finding{};
  Pass(2000);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(PreemptionWatchTest, OneOfTwoNoticesThatIsWithdrawnLeavesTheOther) {
  Watch(absl::Seconds(120), 2);
  Notice(0, 30);
  Notice(1, 90);
  Pass(5);
  says_[0] = Finding{};
  Pass(5);
  // Both looks of one moment come in turn.
  EXPECT_THAT(told_, ElementsAre("s0", "s1"));
}

TEST_F(PreemptionWatchTest, FailuresAreAskedMoreRarelyAndLoggedRarely) {
  Watch();
  says_[0] = absl::UnavailableError("GET /: answers HTTP 500");
  Pass(5);  // fails
  EXPECT_EQ(looks_[0], 2);
  Pass(5);  // the pause, since the first wait is below it
  Pass(5);
  EXPECT_EQ(looks_[0], 4);
  Pass(8);  // a wait of 8 s now
  EXPECT_EQ(looks_[0], 5);
  Pass(500);  // and of 10 s from here on
  EXPECT_EQ(looks_[0], 55);
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_THAT(events_.names, ElementsAre("worker.preemption.unanswered"));
  Pass(120);
  EXPECT_THAT(events_.names, ElementsAre("worker.preemption.unanswered",
                                         "worker.preemption.unanswered"));
  says_[0] = Finding{};
  Pass(10);
  const int looks = looks_[0];
  Pass(5);
  EXPECT_EQ(looks_[0], looks + 1);
  EXPECT_EQ(events_.names.back(), "worker.preemption.answered_again");
}

TEST_F(PreemptionWatchTest, AFailureWithdrawsNothing) {
  Watch();
  Notice(0, 30);
  Pass(5);
  says_[0] = absl::UnavailableError("gone");
  Pass(60);
  EXPECT_THAT(told_, ElementsAre("s0"));
}

TEST_F(PreemptionWatchTest, NothingHappensAfterItIsGone) {
  Watch(absl::Seconds(60));
  Notice(0, 900);
  Pass(5);
  const int looks = looks_[0];
  watch_.reset();
  Pass(5000);
  EXPECT_EQ(looks_[0], looks);
  EXPECT_THAT(told_, IsEmpty());
}

}  // namespace
}  // namespace skerry::worker
