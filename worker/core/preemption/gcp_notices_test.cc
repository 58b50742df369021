#include "worker/core/preemption/gcp_notices.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class GcpNoticesTest : public testing::Test {
 protected:
  absl::StatusOr<Finding> Reply(std::string body, std::string etag = "e7-_a") {
    return source_.OnReply(
        {200,
         {{"metadata-flavor", "Google"}, {"etag", std::move(etag)}},
         std::move(body)},
        absl::UnixEpoch());
  }

  GcpNotices source_;
};

TEST_F(GcpNoticesTest, TheFirstRequestIsAnsweredAtOnceTheNextWaitsForAChange) {
  const MetadataRequest first = source_.Next();
  EXPECT_EQ(first.method, "GET");
  EXPECT_EQ(first.path, "/computeMetadata/v1/instance/preempted");
  EXPECT_THAT(first.headers, ElementsAre(Pair("Metadata-Flavor", "Google")));
  ASSERT_FALSE(Reply("FALSE\n")->notice.has_value());
  const MetadataRequest second = source_.Next();
  EXPECT_EQ(second.path,
            "/computeMetadata/v1/instance/preempted"
            "?wait_for_change=true&timeout_sec=60&last_etag=e7-_a");
  EXPECT_GT(second.timeout, absl::Seconds(60));
}

TEST_F(GcpNoticesTest, TrueIsANoticeOf30Seconds) {
  const auto found = Reply("TRUE");
  ASSERT_TRUE(found->notice.has_value());
  EXPECT_EQ(found->notice->remaining, absl::Seconds(30));
  // The same notice, however often it is read.
  EXPECT_EQ(Reply("TRUE", "another")->notice->id, found->notice->id);
}

TEST_F(GcpNoticesTest, EverythingElseIsAnError) {
  for (const char* body : {"", "true", "TRUEFALSE", "<html>", "NONE"}) {
    EXPECT_THAT(Reply(body).status().message(),
                HasSubstr("says neither TRUE nor FALSE"))
        << body;
  }
  for (const std::string& etag : {std::string(), std::string("a&b=c"),
                                  std::string("a\nb"), std::string(129, 'a')}) {
    EXPECT_THAT(Reply("TRUE", etag).status().message(),
                HasSubstr("has no etag"));
  }
  EXPECT_THAT(source_.OnReply({200, {{"etag", "a"}}, "TRUE"}, absl::UnixEpoch())
                  .status()
                  .message(),
              HasSubstr("not answered by Google's metadata service"));
  EXPECT_THAT(
      source_.OnReply({503, {}, "TRUE"}, absl::UnixEpoch()).status().message(),
      HasSubstr("answers HTTP 503"));
  // Nothing of all this was remembered.
  EXPECT_EQ(source_.Next().path, "/computeMetadata/v1/instance/preempted");
}

}  // namespace
}  // namespace skerry::worker
