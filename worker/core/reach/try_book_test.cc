#include "worker/core/reach/try_book.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace skerry::worker {
namespace {

using protocol::Tried;
using protocol::TryOrder;

const Instant kStart(absl::Seconds(100));

TryOrder Order(const std::string& worker, uint64_t incarnation = 1,
               bool again = false) {
  return {worker, Incarnation(incarnation), {worker + ":1"}, again};
}

Instant After(absl::Duration time) { return kStart + time; }

class TryBookTest : public testing::Test {
 protected:
  absl::StatusOr<double> Refused() {
    return absl::UnavailableError("Connection refused");
  }
  TryBook book_;
};

TEST_F(TryBookTest, ANewWorkerIsDialledOnceAndThenNowAndThen) {
  book_.Learn({Order("a")}, kStart);
  EXPECT_EQ(book_.TakeDue(kStart), std::vector<TryOrder>{Order("a")});
  EXPECT_TRUE(book_.TakeDue(kStart).empty());
  EXPECT_FALSE(book_.NextDue().has_value());
  const auto told = book_.OnOutcome(Order("a"), 12.5, kStart);
  EXPECT_EQ(told, (Tried{"a", Incarnation(1), {}, 12.5, ""}));
  EXPECT_EQ(book_.NextDue(), After(TryBook::kOften));
  book_.Learn({Order("a")}, kStart);
  EXPECT_EQ(book_.NextDue(), After(TryBook::kOften));
  // It answers still, which is no news.
  book_.TakeDue(After(TryBook::kOften));
  EXPECT_FALSE(
      book_.OnOutcome(Order("a"), 13, After(TryBook::kOften)).has_value());
}

TEST_F(TryBookTest, OnlyTheSecondFailureIsTold) {
  book_.Learn({Order("a")}, kStart);
  book_.TakeDue(kStart);
  EXPECT_FALSE(book_.OnOutcome(Order("a"), Refused(), kStart).has_value());
  EXPECT_TRUE(book_.Told(kStart).empty());
  EXPECT_EQ(book_.NextDue(), After(TryBook::kAtOnce));
  const Instant later = After(TryBook::kAtOnce);
  book_.TakeDue(later);
  const auto told = book_.OnOutcome(Order("a"), Refused(), later);
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->error, "Connection refused");
  EXPECT_EQ(book_.NextDue(), later + TryBook::kSoon);
  // One that has answered still counts as answering after one failure.
  book_.TakeDue(later + TryBook::kSoon);
  EXPECT_TRUE(book_.OnOutcome(Order("a"), 1.0, later)->ok());
  book_.TakeDue(later + TryBook::kOften);
  EXPECT_FALSE(book_.OnOutcome(Order("a"), Refused(), later).has_value());
  EXPECT_TRUE(book_.Told(later)[0].ok());
}

TEST_F(TryBookTest, TheAgeOfWhatIsToldGrows) {
  book_.Learn({Order("a")}, kStart);
  book_.TakeDue(kStart);
  book_.OnOutcome(Order("a"), 1.0, kStart);
  EXPECT_EQ(book_.Told(After(absl::Seconds(7)))[0].age, absl::Seconds(7));
}

TEST_F(TryBookTest, WhoCouldNotDialThisOneIsDialledAtOnceAndOften) {
  book_.Learn({Order("a")}, kStart);
  book_.TakeDue(kStart);
  book_.OnOutcome(Order("a"), 1.0, kStart);
  const Instant later = After(absl::Seconds(9));
  book_.Learn({Order("a", 1, true)}, later);
  EXPECT_EQ(book_.NextDue(), later);
  book_.TakeDue(later);
  book_.OnOutcome(Order("a", 1, true), 1.0, later);
  EXPECT_EQ(book_.NextDue(), later + TryBook::kSoon);
}

TEST_F(TryBookTest, WhoIsMissedIsDialledAtOnce) {
  book_.Learn({Order("a")}, kStart);
  book_.TakeDue(kStart);
  book_.OnOutcome(Order("a"), 1.0, kStart);
  const Instant later = After(absl::Seconds(9));
  book_.Miss({"a"}, later);
  EXPECT_EQ(book_.NextDue(), later);
  book_.TakeDue(later);
  book_.OnOutcome(Order("a"), 1.0, later);
  book_.Miss({"a"}, later);
  EXPECT_EQ(book_.NextDue(), later + TryBook::kOften);
}

TEST_F(TryBookTest, ANewProcessOrPlaceStartsAnew) {
  book_.Learn({Order("a")}, kStart);
  book_.TakeDue(kStart);
  book_.OnOutcome(Order("a"), 1.0, kStart);
  const Instant later = After(absl::Seconds(9));
  book_.Learn({Order("a", 2)}, later);
  EXPECT_TRUE(book_.Told(later).empty());
  EXPECT_EQ(book_.NextDue(), later);
  TryOrder moved = Order("a", 2);
  moved.endpoints = {"elsewhere:1"};
  book_.TakeDue(later);
  book_.Learn({moved}, later);
  // The outcome of dialling the former place is nothing to tell.
  EXPECT_FALSE(book_.OnOutcome(Order("a", 2), 1.0, later).has_value());
  EXPECT_TRUE(book_.Told(later).empty());
  EXPECT_EQ(book_.TakeDue(later), std::vector<TryOrder>{moved});
}

TEST_F(TryBookTest, WhoIsNotNamedAnyMoreIsForgotten) {
  book_.Learn({Order("a"), Order("b")}, kStart);
  book_.TakeDue(kStart);
  book_.OnOutcome(Order("a"), 1.0, kStart);
  book_.Learn({Order("b")}, kStart);
  EXPECT_TRUE(book_.Told(kStart).empty());
  EXPECT_FALSE(book_.OnOutcome(Order("a"), 1.0, kStart).has_value());
}

}  // namespace
}  // namespace skerry::worker
