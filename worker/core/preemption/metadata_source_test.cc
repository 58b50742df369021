#include "worker/core/preemption/metadata_source.h"

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

constexpr absl::Duration kMost = absl::Seconds(100);

TEST(MetadataSourceTest, TheServicesOwnClockCounts) {
  const absl::Time at = *ReadRfc3339("2026-11-26T07:02:00Z");
  const absl::Time wrong_clock = at + absl::Hours(5);
  MetadataReply reply;
  reply.headers["date"] = "Thu, 26 Nov 2026 07:01:00 GMT";
  EXPECT_EQ(TimeUntil(at, reply, wrong_clock, kMost), absl::Seconds(60));
  reply.headers["date"] = "yesterday";
  EXPECT_EQ(TimeUntil(at, reply, at - absl::Seconds(7), kMost),
            absl::Seconds(7));
  reply.headers.clear();
  EXPECT_EQ(TimeUntil(at, reply, at - absl::Seconds(8), kMost),
            absl::Seconds(8));
}

TEST(MetadataSourceTest, TheTimeIsWithinItsBounds) {
  const absl::Time at = *ReadRfc3339("2026-11-26T07:02:00Z");
  EXPECT_EQ(TimeUntil(at, {}, at + absl::Seconds(1), kMost),
            absl::ZeroDuration());
  EXPECT_EQ(TimeUntil(at, {}, at - absl::Hours(1), kMost), kMost);
}

TEST(MetadataSourceTest, WhatIsNoTimeIsRefused) {
  for (const char* text : {"", "now", "infinite-future", "infinite-past",
                           "2026-11-26", "2026-13-26T07:02:00Z"}) {
    EXPECT_FALSE(ReadRfc3339(text).ok()) << text;
  }
  for (const char* text : {"", "infinite-future", "2026-11-26T07:02:00Z",
                           "Thu, 26 Nov 2026 07:02:00 CET"}) {
    EXPECT_FALSE(ReadHttpDate(text).ok()) << text;
  }
  EXPECT_EQ(*ReadHttpDate("Thu, 26 Nov 2026 07:02:00 GMT"),
            *ReadRfc3339("2026-11-26T07:02:00Z"));
}

TEST(MetadataSourceTest, ABadReplyNamesItsRequest) {
  const MetadataRequest request{"GET", "/a/b?c=d", {}, absl::Seconds(1)};
  EXPECT_EQ(BadReply(request, "is empty").message(), "GET /a/b: is empty");
}

}  // namespace
}  // namespace skerry::worker
