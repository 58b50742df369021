#include "trainer/attach/core/rank_set.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::trainer::attach {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Instant At(double seconds) { return Instant(absl::Seconds(seconds)); }

Answer Good(uint64_t id, std::string body = "{}") {
  return {.id = id, .status = absl::OkStatus(), .body = std::move(body)};
}
Answer Bad(uint64_t id, absl::StatusCode code, const std::string& error) {
  return {.id = id, .status = absl::Status(code, error), .body = ""};
}

class RankSetTest : public ::testing::Test {
 protected:
  RankSetTest() : set_(2, At(0)) {}

  void Greet() {
    for (const int rank : {0, 1}) set_.OnLine(rank, Hello{1, "p 1"}, At(1));
    ASSERT_TRUE(set_.ready());
  }
  uint64_t Begin(Call call, double seconds) {
    const uint64_t id = set_.next_id();
    set_.Begin(call, At(seconds));
    return id;
  }
  void AnswerAll(uint64_t id, double seconds) {
    for (const int rank : {0, 1}) set_.OnLine(rank, Good(id), At(seconds));
    ASSERT_TRUE(set_.TakeOutcome()->ok());
  }
  void EndAll(double seconds) {
    for (const int rank : {0, 1}) {
      set_.OnEnd(rank, {.signal = 15}, "", At(seconds));
    }
  }

  RankSet set_;
};

TEST_F(RankSetTest, CallIsCompleteWhenAllHaveAnswered) {
  set_.OnLine(1, Hello{1, "p 1"}, At(1));
  EXPECT_FALSE(set_.ready());
  set_.OnLine(0, Hello{1, "p 1"}, At(1));
  const uint64_t id = Begin(Call::kDescribe, 2);
  set_.OnLine(1, Good(id, "one"), At(3));
  EXPECT_FALSE(set_.TakeOutcome().has_value());
  set_.OnLine(0, Good(id, "zero"), At(3));
  EXPECT_THAT(**set_.TakeOutcome(), ElementsAre("zero", "one"));
  EXPECT_FALSE(set_.TakeOutcome().has_value());
  EXPECT_NE(Begin(Call::kRun, 4), id);
}

TEST_F(RankSetTest, FirstErrorThatIsNotAbortedIsTheAnswer) {
  Greet();
  uint64_t id = Begin(Call::kEvaluate, 2);
  set_.OnLine(0, Bad(id, absl::StatusCode::kAborted, "stopped"), At(3));
  set_.OnLine(1, Good(id), At(3));
  EXPECT_EQ(set_.TakeOutcome()->status(), absl::AbortedError("stopped"));
  id = Begin(Call::kEvaluate, 4);
  set_.OnLine(0, Bad(id, absl::StatusCode::kAborted, "stopped"), At(5));
  set_.OnLine(1, Bad(id, absl::StatusCode::kInvalidArgument, "no\nway"), At(5));
  EXPECT_EQ(set_.TakeOutcome()->status(), absl::InvalidArgumentError("no way"));
  EXPECT_TRUE(set_.ready());
}

TEST_F(RankSetTest, RankThatEndsEndsAllAndIsTheReason) {
  Greet();
  Begin(Call::kRun, 2);
  set_.OnEnd(1, {.signal = 9}, "", At(3));
  EXPECT_THAT(set_.TakeNudges(), ElementsAre(Nudge::kTerminate));
  EXPECT_FALSE(set_.TakeOutcome().has_value());
  set_.OnEnd(0, {.signal = 15}, "", At(3.1));
  EXPECT_TRUE(set_.is_over());
  EXPECT_EQ(
      set_.TakeOutcome()->status(),
      absl::InternalError("rank 1 was killed (signal 9); see rank-1.log"));
  EXPECT_EQ(set_.failed_rank(), 1);
}

// The others lose their connection to it.
TEST_F(RankSetTest, KilledRankIsTheReasonAlsoWhenOthersAreHeardFirst) {
  for (const bool in_words : {false, true}) {
    RankSet set(2, At(0));
    for (const int rank : {0, 1}) set.OnLine(rank, Hello{1, "p 1"}, At(1));
    const uint64_t id = set.next_id();
    set.Begin(Call::kRun, At(2));
    if (in_words) {
      set.OnLine(0, Bad(id, absl::StatusCode::kInternal, "peer lost"), At(3));
    } else {
      set.OnEnd(0, {.code = 1}, "struct.error", At(3));
    }
    set.OnEnd(1, {.signal = 9}, "", At(3.1));
    if (in_words) set.OnEnd(0, {.code = 1}, "", At(3.2));
    ASSERT_TRUE(set.is_over()) << in_words;
    EXPECT_EQ(set.failure().message(),
              "rank 1 was killed (signal 9); see rank-1.log");
    EXPECT_EQ(set.failed_rank(), 1);
  }
}

TEST_F(RankSetTest, WordsOfARankBeatHowOthersEndedBeforeIt) {
  Greet();
  const uint64_t id = Begin(Call::kRun, 2);
  set_.OnEnd(0, {.code = 1}, "struct.error", At(3));
  set_.OnLine(1, Good(id), At(3));
  set_.OnLine(1, Bad(id, absl::StatusCode::kInternal, "KeyError: 7"), At(3));
  set_.OnEnd(1, {.code = 1}, "", At(3));
  EXPECT_EQ(set_.failure().message(), "KeyError: 7; see rank-1.log");
}

TEST_F(RankSetTest, RankThatDoesNotHearIsKilled) {
  Greet();
  set_.OnEnd(1, {.code = 2}, "why", At(3));
  EXPECT_THAT(set_.TakeNudges(), ElementsAre(Nudge::kTerminate));
  EXPECT_EQ(set_.NextDeadline(), At(3.5));
  set_.OnTime(At(3.4));
  EXPECT_THAT(set_.TakeNudges(), IsEmpty());
  set_.OnTime(At(3.5));
  EXPECT_THAT(set_.TakeNudges(), ElementsAre(Nudge::kKill));
  EXPECT_FALSE(set_.is_over());
  // Not even that ends it.
  set_.OnTime(At(13.5));
  EXPECT_TRUE(set_.is_over());
  EXPECT_EQ(set_.failure().message(),
            "rank 1 ended with code 2: why; see rank-1.log");
}

TEST_F(RankSetTest, WordsOfARankBeatHowItEnds) {
  Greet();
  const uint64_t id = Begin(Call::kRun, 2);
  set_.OnLine(1, Bad(id, absl::StatusCode::kInternal, "RuntimeError: x"),
              At(3));
  EXPECT_THAT(set_.TakeNudges(), IsEmpty());
  set_.OnEnd(1, {.code = 1}, "Traceback", At(3.2));
  EXPECT_THAT(set_.TakeNudges(), ElementsAre(Nudge::kTerminate));
  EndAll(3.3);
  EXPECT_EQ(set_.TakeOutcome()->status(),
            absl::InternalError("RuntimeError: x; see rank-1.log"));
}

TEST_F(RankSetTest, RankThatHasSaidWhyEndsWithinASecond) {
  Greet();
  set_.OnLine(0, FailedNote{"KeyError: 7"}, At(3));
  EXPECT_FALSE(set_.ready());
  set_.OnTime(At(3.9));
  EXPECT_THAT(set_.TakeNudges(), IsEmpty());
  set_.OnTime(At(4));
  EXPECT_THAT(set_.TakeNudges(), ElementsAre(Nudge::kTerminate));
  EXPECT_EQ(set_.failure().message(), "KeyError: 7; see rank-0.log");
}

TEST_F(RankSetTest, HowARankEndsSaysMoreThanThatItsConnectionDid) {
  Greet();
  set_.OnClosed(0, At(3));
  set_.OnEnd(0, {.signal = 11}, "", At(3.1));
  EXPECT_EQ(set_.failure().message(),
            "rank 0 was ended by signal 11; see rank-0.log");
  EXPECT_THAT(set_.TakeNudges(), ElementsAre(Nudge::kTerminate));
}

TEST_F(RankSetTest, LinesOutOfPlaceEndTheRanks) {
  set_.OnLine(0, StepNote{1}, At(1));
  EXPECT_THAT(set_.failure().message(), HasSubstr("did not say hello"));
  for (const RankLine& line :
       {RankLine(Hello{1, "p"}), RankLine(Good(7)), RankLine(Good(0))}) {
    RankSet set(1, At(0));
    set.OnLine(0, Hello{1, "p"}, At(1));
    set.Begin(Call::kRun, At(1));
    set.OnLine(0, line, At(2));
    EXPECT_FALSE(set.ready());
    EXPECT_FALSE(set.failure().ok());
  }
}

TEST_F(RankSetTest, OtherVersionIsRefused) {
  set_.OnLine(0, Hello{2, "p 9"}, At(1));
  EXPECT_EQ(set_.failure().message(),
            "rank 0 speaks version 2 of the lines (p 9), skerry-attach speaks "
            "1; install a package of this release");
}

TEST_F(RankSetTest, SecondAnswerIsNotTaken) {
  Greet();
  const uint64_t id = Begin(Call::kRun, 2);
  set_.OnLine(0, Good(id), At(3));
  set_.OnLine(0, Good(id), At(3));
  EXPECT_THAT(set_.failure().message(), HasSubstr("which is not open"));
}

TEST_F(RankSetTest, StartAndFirstStepMayTakeTenMinutes) {
  EXPECT_EQ(set_.NextDeadline(), At(600));
  Greet();
  EXPECT_FALSE(set_.NextDeadline().has_value());
  Begin(Call::kRun, 100);
  EXPECT_EQ(set_.NextDeadline(), At(700));
  set_.OnTime(At(700));
  EXPECT_THAT(set_.TakeNudges(), ElementsAre(Nudge::kWriteStacks));
  EXPECT_EQ(set_.failure().message(),
            "no step for 600 s; see rank-0.log for where each thread stood");
  set_.OnTime(At(701));
  EXPECT_THAT(set_.TakeNudges(), ElementsAre(Nudge::kTerminate));
}

TEST_F(RankSetTest, LaterStepsMayTakeTwentyTimesTheSlowest) {
  Greet();
  uint64_t id = Begin(Call::kRun, 100);
  // Compiling counts for nothing.
  set_.OnLine(0, StepNote{1}, At(400));
  EXPECT_EQ(set_.NextDeadline(), At(460));
  set_.OnLine(1, StepNote{1}, At(401));
  EXPECT_EQ(set_.NextDeadline(), At(460));
  set_.OnLine(1, StepNote{3}, At(410));
  EXPECT_EQ(set_.steps(), 3u);
  EXPECT_EQ(set_.NextDeadline(), At(410 + 20 * 5));
  // A note that says less is late.
  set_.OnLine(0, StepNote{2}, At(420));
  EXPECT_EQ(set_.NextDeadline(), At(410 + 20 * 5));
  AnswerAll(id, 421);
  EXPECT_FALSE(set_.NextDeadline().has_value());
  // What is between two calls is nobody's step.
  id = Begin(Call::kRun, 1000);
  EXPECT_EQ(set_.NextDeadline(), At(1100));
  AnswerAll(id, 1001);
  Begin(Call::kEvaluate, 1002);
  EXPECT_EQ(set_.NextDeadline(), At(1602));
}

TEST_F(RankSetTest, ProgramMayTakeTenSecondsForItsLastLines) {
  Greet();
  set_.Begin(Call::kExit, At(5));
  set_.OnLine(0, Good(1), At(5));
  set_.OnClosed(0, At(6));
  set_.OnEnd(0, {.code = 0}, "", At(6));
  EXPECT_EQ(set_.NextDeadline(), At(15));
  set_.OnTime(At(15));
  EXPECT_THAT(set_.TakeNudges(), ElementsAre(Nudge::kTerminate));
  set_.OnEnd(1, {.signal = 15}, "", At(15));
  EXPECT_TRUE(set_.is_over());
  EXPECT_TRUE(set_.failure().ok());
}

TEST_F(RankSetTest, RefusedAnswersEndTheRanks) {
  Greet();
  const uint64_t id = Begin(Call::kRun, 2);
  AnswerAll(id, 3);
  set_.Refuse("the sum is wrong", At(3));
  EXPECT_THAT(set_.TakeNudges(), ElementsAre(Nudge::kTerminate));
  EXPECT_EQ(set_.failure(), absl::InternalError("the sum is wrong"));
  EXPECT_EQ(set_.failed_rank(), -1);
}

TEST_F(RankSetTest, StopEndsRanksThatHaveDoneNothingWrong) {
  Greet();
  set_.Stop(At(2));
  set_.Stop(At(2.1));
  EXPECT_THAT(set_.TakeNudges(), ElementsAre(Nudge::kTerminate));
  EndAll(2.2);
  EXPECT_TRUE(set_.is_over());
  EXPECT_TRUE(set_.failure().ok());
}

}  // namespace
}  // namespace skerry::trainer::attach
