#include "worker/core/preemption/azure_notices.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr char kSoon[] = "Thu, 26 Nov 2026 07:00:40 GMT";
constexpr char kLater[] = "Thu, 26 Nov 2026 07:15:00 GMT";

std::string Event(const std::string& type, const std::string& machine,
                  const std::string& not_before = kSoon,
                  const std::string& status = "Scheduled",
                  const std::string& id = "e1") {
  return absl::StrCat(R"({"EventId": ")", id, R"(", "EventType": ")", type,
                      R"(", "EventStatus": ")", status,
                      R"(", "ResourceType": "VirtualMachine", "Resources": [")",
                      machine, R"("], "NotBefore": ")", not_before, R"("})");
}

class AzureNoticesTest : public testing::Test {
 protected:
  absl::StatusOr<Finding> Reply(int code, std::string body) {
    return source_.OnReply({code, {}, std::move(body)}, now_);
  }
  void TakeName() {
    ASSERT_TRUE(Reply(200, "gpu_3")->asks_on);
    ASSERT_THAT(source_.Next().path, HasSubstr("/metadata/scheduledevents"));
  }
  // A list of events, without the brackets.
  std::optional<Notice> Found(const std::string& events) {
    const auto found =
        Reply(200, absl::StrCat(R"({"DocumentIncarnation": 3, "Events": [)",
                                events, "]}"));
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? found->notice : std::nullopt;
  }

  AzureNotices source_;
  const absl::Time now_ = *ReadRfc3339("2026-11-26T07:00:00Z");
};

TEST_F(AzureNoticesTest, TheMachinesNameIsAskedForFirst) {
  EXPECT_EQ(source_.Next().path,
            "/metadata/instance/compute/name?api-version=2021-02-01"
            "&format=text");
  EXPECT_THAT(source_.Next().headers, ElementsAre(Pair("Metadata", "true")));
  TakeName();
  EXPECT_EQ(source_.Next().path,
            "/metadata/scheduledevents?api-version=2020-07-01");
  EXPECT_THAT(source_.Next().headers, ElementsAre(Pair("Metadata", "true")));
}

TEST_F(AzureNoticesTest, AnEmptyListIsNoNotice) {
  TakeName();
  EXPECT_FALSE(Found("").has_value());
}

TEST_F(AzureNoticesTest, AnEventIsOverAsScheduled) {
  TakeName();
  for (const char* type : {"Preempt", "Terminate", "Reboot", "Redeploy"}) {
    const auto notice = Found(Event(type, "GPU_3"));
    ASSERT_TRUE(notice.has_value()) << type;
    EXPECT_EQ(notice->what, type);
    EXPECT_EQ(notice->remaining, absl::Seconds(40));
  }
}

TEST_F(AzureNoticesTest, AnEventThatHasStartedLeavesNoTime) {
  TakeName();
  const auto scheduled = Found(Event("Preempt", "gpu_3"));
  const auto started = Found(Event("Preempt", "gpu_3", "", "Started"));
  ASSERT_TRUE(started.has_value());
  EXPECT_EQ(started->remaining, absl::ZeroDuration());
  EXPECT_NE(started->id, scheduled->id);
}

TEST_F(AzureNoticesTest, FreezesAndOtherMachinesAreNone) {
  TakeName();
  EXPECT_FALSE(Found(Event("Freeze", "gpu_3")).has_value());
  EXPECT_FALSE(Found(Event("Preempt", "gpu_31")).has_value());
  EXPECT_FALSE(
      Found(Event("Preempt", "gpu_3", kSoon, "Cancelled")).has_value());
}

TEST_F(AzureNoticesTest, TheEarliestEventCounts) {
  TakeName();
  const auto notice =
      Found(absl::StrCat(Event("Redeploy", "gpu_3", kLater), ",",
                         Event("Preempt", "gpu_3", kSoon, "Scheduled", "e2"),
                         ",", Event("Freeze", "gpu_3")));
  ASSERT_TRUE(notice.has_value());
  EXPECT_EQ(notice->what, "Preempt");
}

TEST_F(AzureNoticesTest, EverythingElseIsAnError) {
  for (const std::string& name :
       {std::string(), std::string("a b"), std::string(257, 'a')}) {
    EXPECT_THAT(Reply(200, name).status().message(),
                HasSubstr("/compute/name: gives no name"));
  }
  EXPECT_THAT(Reply(404, "").status().message(), HasSubstr("answers HTTP 404"));
  TakeName();
  EXPECT_THAT(Reply(410, "").status().message(), HasSubstr("answers HTTP 410"));
  for (const std::string& body :
       {std::string(), std::string("[]"), std::string("{}"),
        std::string("<html>"), std::string(R"({"Events": {}})"),
        std::string(R"({"Events": [1]})"), std::string(R"({"Events": [{}]})"),
        absl::StrCat(R"({"Events": [)", Event("Preempt", "gpu_3", "soon"),
                     "]}"),
        std::string(R"({"Events": [{"EventType": "Preempt"}]})"),
        std::string(
            R"({"Events": [{"EventType": "Reboot", "Resources": ["gpu_3"]}]})"),
        std::string(10000, '[')}) {
    const auto found = Reply(200, body);
    EXPECT_THAT(found.status().message(),
                HasSubstr("GET /metadata/scheduledevents: "))
        << body;
  }
}

}  // namespace
}  // namespace skerry::worker
