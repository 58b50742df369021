#include "worker/core/preemption/notice_book.h"

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

using Change = NoticeBook::Change;

Instant At(double seconds) { return Instant(absl::Seconds(seconds)); }

std::optional<Notice> In(double seconds, const char* id = "a") {
  return Notice{id, "stop", absl::Seconds(seconds)};
}

TEST(NoticeBookTest, ADeadlineIsThatOfTheFirstSight) {
  NoticeBook book(absl::Seconds(120));
  EXPECT_EQ(book.Earliest(), nullptr);
  EXPECT_EQ(book.Take("gcp", In(30), At(10)), Change::kNew);
  EXPECT_EQ(book.Take("gcp", In(30), At(20)), Change::kNone);
  ASSERT_NE(book.Earliest(), nullptr);
  EXPECT_EQ(*book.Earliest(), (PendingNotice{"gcp", "stop", At(40)}));
}

TEST(NoticeBookTest, AnotherNoticeOfTheSourceTakesThePlaceOfTheFirst) {
  NoticeBook book(absl::Seconds(120));
  book.Take("azure", In(600, "scheduled"), At(0));
  EXPECT_EQ(book.Take("azure", In(0, "started"), At(100)), Change::kNew);
  EXPECT_EQ(book.Of("azure")->deadline, At(100));
}

TEST(NoticeBookTest, AWithdrawnNoticeIsForgotten) {
  NoticeBook book(absl::Seconds(120));
  EXPECT_EQ(book.Take("azure", std::nullopt, At(0)), Change::kNone);
  book.Take("azure", In(30), At(1));
  EXPECT_EQ(book.Take("azure", std::nullopt, At(2)), Change::kWithdrawn);
  EXPECT_EQ(book.Earliest(), nullptr);
  EXPECT_EQ(book.Of("azure"), nullptr);
  EXPECT_EQ(book.Take("azure", In(30), At(3)), Change::kNew);
}

TEST(NoticeBookTest, TheEarliestDeadlineOfAllSourcesCounts) {
  NoticeBook book(absl::Seconds(120));
  book.Take("aws", In(100), At(0));
  book.Take("file:x", In(20), At(0));
  EXPECT_EQ(book.Earliest()->source, "file:x");
  book.Take("file:x", std::nullopt, At(5));
  EXPECT_EQ(book.Earliest()->source, "aws");
}

TEST(NoticeBookTest, DrainingBeginsTheLeadBeforeTheDeadline) {
  NoticeBook book(absl::Seconds(60));
  book.Take("azure", In(900), At(0));
  EXPECT_EQ(book.DrainAt(*book.Earliest()), At(840));
}

}  // namespace
}  // namespace skerry::worker
