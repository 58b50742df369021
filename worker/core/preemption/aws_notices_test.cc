#include "worker/core/preemption/aws_notices.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class AwsNoticesTest : public testing::Test {
 protected:
  absl::StatusOr<Finding> Reply(int code, std::string body) {
    return source_.OnReply({code, {}, std::move(body)}, now_);
  }
  void TakeToken(const char* token = "t0k3n==") {
    ASSERT_EQ(source_.Next().path, "/latest/api/token");
    ASSERT_TRUE(Reply(200, token)->asks_on);
  }
  std::string ErrorOf(int code, std::string body) {
    const auto found = Reply(code, std::move(body));
    EXPECT_TRUE(absl::IsUnavailable(found.status())) << found.ok();
    return std::string(found.status().message());
  }

  AwsNotices source_;
  const absl::Time now_ = *ReadRfc3339("2026-11-26T07:00:00Z");
};

TEST_F(AwsNoticesTest, ATokenIsAskedForFirstAndShownAfterwards) {
  const MetadataRequest first = source_.Next();
  EXPECT_EQ(first.method, "PUT");
  EXPECT_THAT(
      first.headers,
      ElementsAre(Pair("X-aws-ec2-metadata-token-ttl-seconds", "21600")));
  TakeToken();
  const MetadataRequest second = source_.Next();
  EXPECT_EQ(second.method, "GET");
  EXPECT_EQ(second.path, "/latest/meta-data/spot/instance-action");
  EXPECT_THAT(second.headers,
              ElementsAre(Pair("X-aws-ec2-metadata-token", "t0k3n==")));
  EXPECT_EQ(source_.pause(), absl::Seconds(5));
}

TEST_F(AwsNoticesTest, NotFoundIsNoNotice) {
  TakeToken();
  const auto found = Reply(404, "<html>");
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->asks_on);
  EXPECT_FALSE(found->notice.has_value());
}

TEST_F(AwsNoticesTest, ANoticeHasActionAndTime) {
  TakeToken();
  for (const char* action : {"terminate", "stop", "hibernate"}) {
    const auto found = Reply(200, std::string(R"({"action": ")") + action +
                                      R"(", "time": "2026-11-26T07:01:30Z"})");
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_TRUE(found->notice.has_value());
    EXPECT_EQ(found->notice->what, action);
    EXPECT_EQ(found->notice->remaining, absl::Seconds(90));
  }
}

TEST_F(AwsNoticesTest, AClockThatIsBehindGivesNoMoreThanTwoMinutes) {
  TakeToken();
  const auto found =
      Reply(200, R"({"action": "stop", "time": "2026-11-26T09:00:00Z"})");
  EXPECT_EQ(found->notice->remaining, absl::Seconds(120));
}

TEST_F(AwsNoticesTest, ATokenThatHasRunOutIsAskedForAnew) {
  TakeToken();
  ASSERT_TRUE(Reply(404, "").ok());
  ASSERT_TRUE(Reply(401, "")->asks_on);
  TakeToken("another");
  EXPECT_EQ(source_.Next().headers[0].second, "another");
  EXPECT_FALSE(Reply(404, "")->notice.has_value());
}

TEST_F(AwsNoticesTest, ARefusedTokenIsAnErrorAndNoEndlessTalk) {
  EXPECT_THAT(ErrorOf(403, "no"),
              HasSubstr("PUT /latest/api/token: gives no token (HTTP 403)"));
  TakeToken();
  EXPECT_THAT(ErrorOf(401, ""), HasSubstr("that it has just given"));
  EXPECT_EQ(source_.Next().method, "PUT");
}

TEST_F(AwsNoticesTest, ATokenCannotEndItsHeader) {
  for (const std::string& token :
       {std::string(), std::string("a\r\nb: c"), std::string("a b"),
        std::string("a\0b", 3), std::string(1025, 'a')}) {
    EXPECT_THAT(ErrorOf(200, token), HasSubstr("gives no token"));
  }
}

TEST_F(AwsNoticesTest, WhatIsNoNoticeIsAnError) {
  TakeToken();
  for (const char* body :
       {"", "null", "[]", "{}", "<html>", R"({"action": "stop"})",
        R"({"action": "stop", "time": 5})",
        R"({"action": "stop", "time": "soon"})",
        R"({"action": "none", "time": "2026-11-26T07:01:30Z"})",
        R"({"action": ["stop"], "time": "2026-11-26T07:01:30Z"})"}) {
    EXPECT_THAT(ErrorOf(200, body),
                HasSubstr("GET /latest/meta-data/spot/instance-action: "))
        << body;
  }
  EXPECT_THAT(ErrorOf(500, ""), HasSubstr("answers HTTP 500"));
}

}  // namespace
}  // namespace skerry::worker
