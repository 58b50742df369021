#include "simulator/process.h"

#include <string>

#include "gtest/gtest.h"

namespace skerry::sim {
namespace {

class ProcessTest : public testing::Test {
 protected:
  void RunFor(absl::Duration time) {
    const Instant end = timeline_.now() + time;
    while (timeline_.next() <= end) timeline_.RunNext();
    timeline_.At(end, [] {});
    timeline_.RunNext();
  }
  std::unique_ptr<Process> Make() {
    return std::make_unique<Process>(timeline_, random_, clock_, [] {});
  }

  Timeline timeline_;
  Random random_{1};
  Clock clock_;
  std::string said_;
};

TEST_F(ProcessTest, TasksRunInTheOrderOfTheCalls) {
  const auto process = Make();
  process->RunAt(Instant(absl::Seconds(2)), [this] { said_ += "c"; });
  process->RunAt(Instant(absl::Seconds(1)), [this] { said_ += "b"; });
  process->Post([this] { said_ += "a"; });
  RunFor(absl::Seconds(3));
  EXPECT_EQ(said_, "abc");
}

TEST_F(ProcessTest, NothingRunsAfterTheEnd) {
  auto process = Make();
  process->Post([this] { said_ += "a"; });
  process->RunAt(Instant(absl::Seconds(1)), [this] { said_ += "b"; });
  process.reset();
  RunFor(absl::Seconds(3));
  EXPECT_EQ(said_, "");
}

TEST_F(ProcessTest, APauseKeepsTasksForLater) {
  const auto process = Make();
  process->RunAt(Instant(absl::Seconds(1)), [this] { said_ += "a"; });
  process->Pause();
  RunFor(absl::Seconds(5));
  EXPECT_EQ(said_, "");
  process->Resume();
  RunFor(absl::Seconds(1));
  EXPECT_EQ(said_, "a");
  EXPECT_GE(process->Now(), Instant(absl::Seconds(6)));
}

TEST_F(ProcessTest, TimersFollowAClockThatLeapsOrIsFast) {
  const auto process = Make();
  process->RunAt(Instant(absl::Seconds(100)), [this] { said_ += "a"; });
  clock_.Leap(timeline_.now(), absl::Seconds(99));
  clock_.SetRate(timeline_.now(), 2.0);
  process->ClockChanged();
  RunFor(absl::Milliseconds(499));
  EXPECT_EQ(said_, "");
  RunFor(absl::Milliseconds(2));
  EXPECT_EQ(said_, "a");
}

TEST_F(ProcessTest, AClockReachesWhatItIsAskedFor) {
  for (const double rate : {0.95, 0.99, 1.0, 1.05}) {
    Clock clock;
    clock.SetRate(Instant(absl::Nanoseconds(17)), rate);
    for (int i = 1; i < 2000; ++i) {
      const Instant shown(absl::Nanoseconds(19 * i) + absl::Nanoseconds(0.75));
      EXPECT_GE(clock.At(clock.When(shown)), shown);
    }
  }
}

}  // namespace
}  // namespace skerry::sim
