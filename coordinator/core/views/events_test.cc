#include "coordinator/core/views/events.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

TEST(EventsTest, AnEventSaysWhatAndWhy) {
  const auto event =
      EventOf({Revision(7), ReplicaEnded{JobId(1), Life(5), "w is silent"}});
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->name, "ReplicaEnded");
  EXPECT_EQ(event->revision, Revision(7));
  EXPECT_NE(event->message.find("w is silent"), std::string::npos);
}

TEST(EventsTest, AnAttemptWithoutMembersIsAClosedExchange) {
  EXPECT_EQ(EventOf({Revision(7), Opened{}})->name, "ExchangeClosed");
}

TEST(EventsTest, AJobWithoutAValidationSplitSaysSo) {
  JobSized sized{JobId(1), 100, 50, 1.5, 0};
  EXPECT_EQ(EventOf({Revision(7), sized})->name, "NotEvaluated");
  sized.validation_samples = 1;
  EXPECT_FALSE(EventOf({Revision(7), sized}).has_value());
}

TEST(EventsTest, BookkeepingIsNoEvent) {
  EXPECT_FALSE(EventOf({Revision(7), Granted{}}).has_value());
  EXPECT_FALSE(EventOf({Revision(7), Planned{}}).has_value());
}

}  // namespace
}  // namespace skerry::coordinator
