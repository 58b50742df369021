#include "worker/core/preemption/file_notice.h"

#include "gtest/gtest.h"
#include "worker/core/preemption/metadata_source.h"

namespace skerry::worker {
namespace {

const absl::Time kNow = *ReadRfc3339("2026-11-26T07:00:00Z");

TEST(FileNoticeTest, ANumberIsTheSecondsThatRemain) {
  EXPECT_EQ(NoticeOfFile("90\n", kNow).remaining, absl::Seconds(90));
  EXPECT_EQ(NoticeOfFile(" 2.5 ", kNow).remaining, absl::Seconds(2.5));
  EXPECT_EQ(NoticeOfFile("0", kNow).remaining, absl::ZeroDuration());
}

TEST(FileNoticeTest, ATimeIsTheDeadline) {
  EXPECT_EQ(NoticeOfFile("2026-11-26T07:01:00Z\n", kNow).remaining,
            absl::Seconds(60));
  EXPECT_EQ(NoticeOfFile("2026-11-26T08:01:00+01:00", kNow).remaining,
            absl::Seconds(60));
  EXPECT_EQ(NoticeOfFile("2020-01-01T00:00:00Z", kNow).remaining,
            absl::ZeroDuration());
}

TEST(FileNoticeTest, AnyOtherTextLeaves30Seconds) {
  for (const char* text : {"", "\n", "the host needs a new disk", "-1", "nan",
                           "inf", "1e300", "infinite-future"}) {
    EXPECT_EQ(NoticeOfFile(text, kNow).remaining, absl::Seconds(30)) << text;
  }
}

TEST(FileNoticeTest, AnotherTextIsAnotherNotice) {
  EXPECT_EQ(NoticeOfFile("60", kNow).id,
            NoticeOfFile("60\n", kNow + absl::Seconds(9)).id);
  EXPECT_NE(NoticeOfFile("60", kNow).id, NoticeOfFile("20", kNow).id);
}

}  // namespace
}  // namespace skerry::worker
