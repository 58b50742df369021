#include "coordinator/service/page_feed.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace skerry::coordinator {
namespace {

using runtime::WebAnswer;
using runtime::WebRequest;
using testing::HasSubstr;
using testing::StartsWith;

// A core with one worker, whose state a test sets, and a clock.
class PageFeedTest : public testing::Test {
 protected:
  WebAnswer Ask(const std::string& path, const std::string& query = "",
                const std::string& last_event_id = "") {
    return feed_.Answer({"127.0.0.1", path, query, "localhost:9443",
                         "same-origin", last_event_id});
  }
  void Pass(double seconds) { now_ = now_ + absl::Seconds(seconds); }

  int looks_ = 0;
  absl::Status trouble_;
  std::string state_ = "connected";
  Instant now_{absl::Seconds(100)};
  Revision asked_after_;
  std::vector<LoggedEvent> events_;
  PageFeed feed_{4,
                 [this](Revision after) -> absl::StatusOr<PageFacts> {
                   ++looks_;
                   asked_after_ = after;
                   if (!trouble_.ok()) return trouble_;
                   PageFacts facts;
                   facts.now = now_;
                   WorkerView worker;
                   worker.worker = "w0";
                   worker.state = state_;
                   facts.workers = {worker};
                   for (const LoggedEvent& event : events_) {
                     if (after < event.event.revision) {
                       facts.events.push_back(event);
                     }
                   }
                   return facts;
                 },
                 [this] { return now_; }};
};

std::string HeaderOf(const WebAnswer& answer, const std::string& name) {
  for (const auto& [key, value] : answer.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST_F(PageFeedTest, FilesHaveTheirTypesAndAStrictPolicy) {
  const WebAnswer index = Ask("/");
  EXPECT_EQ(index.code, 200);
  EXPECT_EQ(index.type, "text/html; charset=utf-8");
  EXPECT_THAT(index.body, StartsWith("<!doctype html>"));
  const std::string policy = HeaderOf(index, "Content-Security-Policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(HeaderOf(index, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(Ask("/page/main.js").type, "text/javascript; charset=utf-8");
  EXPECT_EQ(Ask("/page/other.js").code, 404);
  EXPECT_EQ(Ask("/other").code, 404);
  EXPECT_EQ(Ask("/page/view", "x=1").code, 400);
  EXPECT_EQ(looks_, 0);
}

TEST_F(PageFeedTest, StrangersGetNothing) {
  EXPECT_EQ(
      feed_.Answer({"10.0.0.7", "/page/view", "", "localhost", "", ""}).code,
      403);
  EXPECT_EQ(feed_.Answer({"127.0.0.1", "/", "", "evil.example", "", ""}).code,
            403);
  EXPECT_EQ(looks_, 0);
}

TEST_F(PageFeedTest, ManyReadersShareOneLookASecond) {
  const WebAnswer first = Ask("/page/changes");
  const WebAnswer second = Ask("/page/changes");
  for (int i = 0; i < 3; ++i) {
    first.next();
    second.next();
    Ask("/page/view");
    Pass(1);
  }
  EXPECT_EQ(looks_, 3);
}

TEST_F(PageFeedTest, AStreamSendsEverythingOnceAndThenWhatChanges) {
  const WebAnswer stream = Ask("/page/changes");
  EXPECT_EQ(stream.type, "text/event-stream");
  const std::string whole = stream.next();
  EXPECT_THAT(whole, StartsWith("id: 4-1\ndata: {\"mark\":\"4-1\""));
  EXPECT_THAT(whole, HasSubstr("\"whole\":true"));
  EXPECT_EQ(whole.substr(whole.size() - 2), "\n\n");
  Pass(1);
  EXPECT_EQ(stream.next(), "");
  state_ = "lost";
  Pass(1);
  const std::string change = stream.next();
  EXPECT_THAT(change, StartsWith("id: 4-2\n"));
  EXPECT_EQ(change.find("whole"), std::string::npos);
  EXPECT_THAT(change, HasSubstr("\"state\":\"lost\""));
}

TEST_F(PageFeedTest, AStreamGoesOnAfterTheMark) {
  Ask("/page/view");
  state_ = "lost";
  Pass(1);
  const WebAnswer resumed = Ask("/page/changes", "after=4-0", "4-1");
  const std::string change = resumed.next();
  EXPECT_EQ(change.find("whole"), std::string::npos);
  EXPECT_THAT(change, HasSubstr("\"state\":\"lost\""));
  EXPECT_THAT(Ask("/page/changes", "after=3-1").next(),
              HasSubstr("\"whole\":true"))
      << "a mark of another process";
}

TEST_F(PageFeedTest, ASilentStreamSaysThatItLives) {
  const WebAnswer stream = Ask("/page/changes");
  stream.next();
  std::string said;
  for (int i = 0; i < 5; ++i) {
    Pass(1);
    said += stream.next();
  }
  EXPECT_EQ(said, "event: still\ndata:\n\n");
}

TEST_F(PageFeedTest, ACoreThatDoesNotAnswerIsAskedOnceASecondAndNamed) {
  trouble_ = absl::UnavailableError("the journal's disk\ndoes not answer");
  const WebAnswer answer = Ask("/page/view");
  EXPECT_EQ(answer.code, 503);
  EXPECT_THAT(answer.body, HasSubstr("the journal's disk"));
  Ask("/page/view");
  EXPECT_EQ(looks_, 1);
  const WebAnswer stream = Ask("/page/changes");
  std::string said;
  for (int i = 0; i < 5; ++i) {
    said += stream.next();
    Pass(1);
  }
  EXPECT_EQ(said,
            "event: trouble\ndata: the journal's disk does not answer\n\n");
}

TEST_F(PageFeedTest, EventsAreAskedForOnceAndKept) {
  events_ = {{{Revision(5), JobId(1), "JobSubmitted", "job a"}, now_}};
  Ask("/page/view");
  Pass(1);
  events_.push_back({{Revision(6), JobId(1), "JobPaused", "paused"}, now_});
  const nlohmann::json news = nlohmann::json::parse(Ask("/page/view").body);
  EXPECT_EQ(asked_after_, Revision(5));
  ASSERT_EQ(news["events"].size(), 2u);
  EXPECT_EQ(news["events"][0]["message"], "job a");
  EXPECT_EQ(news["events"][0]["age_ms"], "1000");
}

TEST_F(PageFeedTest, RoutineEventsLeaveRoomForOthers) {
  events_ = {{{Revision(1), JobId(1), "JobSubmitted", "job a"}, now_}};
  for (uint64_t i = 2; i < 2 + 2 * PageFeed::kEventsMax; ++i) {
    events_.push_back({{Revision(i), JobId(1), "Committed", "x"}, now_});
  }
  const nlohmann::json news = nlohmann::json::parse(Ask("/page/view").body);
  ASSERT_EQ(news["events"].size(), PageFeed::kEventsMax + 1);
  EXPECT_EQ(news["events"][0]["name"], "JobSubmitted");
}

}  // namespace
}  // namespace skerry::coordinator
