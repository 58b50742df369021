#include "worker/core/group_meeting.h"

#include <optional>

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

const Life kLife(5);

// Declared before the meeting, whose end still answers who waits.
struct Asked {
  std::optional<absl::StatusOr<std::string>> answer;
  GroupMeeting::Answer Take() {
    return [this](absl::StatusOr<std::string> reply) { answer = reply; };
  }
};

MeetRequest By(uint32_t rank, const std::string& host) {
  return {kLife, rank, host};
}

TEST(GroupMeetingTest, AllAreToldTheSameOnceAllHaveCome) {
  Asked first, second, again;
  GroupMeeting meeting;
  meeting.Begin(kLife, 2);
  meeting.Ask(By(0, "north"), first.Take());
  EXPECT_FALSE(meeting.AllWait());
  meeting.Ask(By(1, "south"), second.Take());
  ASSERT_TRUE(meeting.AllWait());
  EXPECT_FALSE(first.answer.has_value());
  meeting.Decide(std::string("here"));
  EXPECT_EQ(first.answer->value(), "here");
  EXPECT_EQ(second.answer->value(), "here");
  // Its answer was lost on the way.
  meeting.Ask(By(1, "south"), again.Take());
  EXPECT_EQ(again.answer->value(), "here");
  EXPECT_FALSE(meeting.AllWait());
}

TEST(GroupMeetingTest, OneHostIsOneThatAllName) {
  struct Case {
    const char* hosts[3];
    bool one;
  };
  for (const Case& expected :
       {Case{{"a", "a", "a"}, true}, Case{{"a", "a", "b"}, false},
        Case{{"b", "a", "a"}, false}, Case{{"", "", ""}, false},
        Case{{"a", "a", ""}, false}}) {
    Asked asked[3];
    GroupMeeting meeting;
    meeting.Begin(kLife, 3);
    for (uint32_t rank = 0; rank < 3; ++rank) {
      meeting.Ask(By(rank, expected.hosts[rank]), asked[rank].Take());
    }
    EXPECT_EQ(meeting.OnOneHost(), expected.one)
        << expected.hosts[0] << expected.hosts[1] << expected.hosts[2];
  }
}

TEST(GroupMeetingTest, AnErrorIsForAllToo) {
  Asked first, second;
  GroupMeeting meeting;
  meeting.Begin(kLife, 2);
  meeting.Ask(By(0, "a"), first.Take());
  meeting.Ask(By(1, "a"), second.Take());
  meeting.Decide(absl::ResourceExhaustedError("no sockets"));
  EXPECT_TRUE(absl::IsResourceExhausted(first.answer->status()));
  EXPECT_TRUE(absl::IsResourceExhausted(second.answer->status()));
}

TEST(GroupMeetingTest, NewerRequestOfARankReplacesTheOlder) {
  Asked older, newer, other;
  GroupMeeting meeting;
  meeting.Begin(kLife, 2);
  meeting.Ask(By(1, "a"), older.Take());
  meeting.Ask(By(1, "b"), newer.Take());
  EXPECT_TRUE(absl::IsUnavailable(older.answer->status()));
  meeting.Ask(By(0, "b"), other.Take());
  EXPECT_TRUE(meeting.OnOneHost());
}

TEST(GroupMeetingTest, OtherLivesAndRanksAreTurnedAway) {
  Asked old_life, new_life, stranger;
  GroupMeeting meeting;
  meeting.Begin(kLife, 2);
  meeting.Ask({Life(4), 0, "a"}, old_life.Take());
  meeting.Ask({Life(6), 0, "a"}, new_life.Take());
  meeting.Ask(By(2, "a"), stranger.Take());
  EXPECT_TRUE(absl::IsAborted(old_life.answer->status()));
  EXPECT_TRUE(absl::IsUnavailable(new_life.answer->status()));
  EXPECT_TRUE(absl::IsInvalidArgument(stranger.answer->status()));
}

TEST(GroupMeetingTest, WhoWaitsHearsOfTheEnd) {
  Asked replaced, ended, early;
  {
    GroupMeeting meeting;
    meeting.Ask(By(0, "a"), early.Take());
    EXPECT_TRUE(absl::IsUnavailable(early.answer->status()));
    EXPECT_FALSE(meeting.AllWait());
    meeting.Begin(kLife, 2);
    meeting.Ask(By(0, "a"), replaced.Take());
    meeting.Begin(Life(6), 2);
    EXPECT_TRUE(absl::IsAborted(replaced.answer->status()));
    meeting.Ask({Life(6), 1, "a"}, ended.Take());
  }
  EXPECT_TRUE(absl::IsAborted(ended.answer->status()));
}

}  // namespace
}  // namespace skerry::worker
