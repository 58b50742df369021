#include "worker/daemon/notice_source.h"

#include <sys/stat.h>

#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A source of AWS whose service answers from a list.
class NoticeSourceTest : public testing::Test {
 protected:
  NoticeSourceOptions Options() {
    return {"http://cloud:80",
            [this](const runtime::HttpRequest& request)
                -> absl::StatusOr<runtime::HttpReply> {
              asked_.push_back(request.method + " " + request.url);
              EXPECT_EQ(request.body_bytes_max, kMetadataBytesMax);
              if (replies_.empty()) return absl::UnavailableError("no reply");
              runtime::HttpReply reply = std::move(replies_.front());
              replies_.pop_front();
              return reply;
            },
            [] { return *ReadRfc3339("2026-11-26T07:00:00Z"); }};
  }
  NoticeSource Source(const char* spec) {
    return MakeNoticeSource(*ReadNoticeSource(spec), Options());
  }

  std::deque<runtime::HttpReply> replies_;
  std::vector<std::string> asked_;
};

TEST_F(NoticeSourceTest, ALookIsAWholeConversation) {
  NoticeSource source = Source("aws");
  EXPECT_EQ(source.name, "aws");
  EXPECT_EQ(source.pause, absl::Seconds(5));
  replies_ = {{200, {}, "token"},
              {200, {}, R"({"action":"stop","time":"2026-11-26T07:01:00Z"})"}};
  const auto found = source.look();
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->notice->remaining, absl::Seconds(60));
  EXPECT_THAT(
      asked_,
      ElementsAre("PUT http://cloud:80/latest/api/token",
                  "GET http://cloud:80/latest/meta-data/spot/instance-action"));
}

TEST_F(NoticeSourceTest, NoReplyIsAnErrorThatNamesTheRequest) {
  EXPECT_EQ(Source("gcp").look().status(),
            absl::UnavailableError(
                "GET /computeMetadata/v1/instance/preempted: no reply"));
}

TEST_F(NoticeSourceTest, AConversationEnds) {
  struct Endless final : MetadataSource {
    MetadataRequest Next() const override { return {"GET", "/", {}, {}}; }
    absl::StatusOr<Finding> OnReply(const MetadataReply&, absl::Time) override {
      return Finding{.asks_on = true};
    }
    absl::Duration pause() const override { return {}; }
  } endless;
  replies_.resize(100);
  EXPECT_TRUE(absl::IsUnavailable(AskMetadata(endless, Options()).status()));
  EXPECT_EQ(asked_.size(), 4u);
}

TEST_F(NoticeSourceTest, AFileThatIsThereIsANotice) {
  const std::string path = testing::TempDir() + "/notice";
  NoticeSource source = Source(("file:" + path).c_str());
  std::filesystem::remove(path);
  EXPECT_FALSE(source.look()->notice.has_value());
  std::ofstream(path) << "12\n";
  EXPECT_EQ(source.look()->notice->remaining, absl::Seconds(12));
  std::filesystem::remove(path);
  EXPECT_FALSE(source.look()->notice.has_value());
  EXPECT_TRUE(asked_.empty());
}

TEST_F(NoticeSourceTest, AFolderInItsPlaceIsAnError) {
  const std::string path = testing::TempDir();
  EXPECT_THAT(Source(("file:" + path).c_str()).look().status().message(),
              HasSubstr("cannot read " + path + ": Is a directory"));
}

TEST_F(NoticeSourceTest, APipeInItsPlaceIsANoticeAndDoesNotBlock) {
  const std::string path = testing::TempDir() + "/pipe";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(Source(("file:" + path).c_str()).look()->notice->remaining,
            absl::Seconds(30));
}

}  // namespace
}  // namespace skerry::worker
