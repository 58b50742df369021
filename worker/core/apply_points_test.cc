#include "worker/core/apply_points.h"

#include <vector>

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

std::vector<uint64_t> RunsOf(uint64_t samples, uint64_t batch, uint32_t runs) {
  RoundRuns round;
  round.Begin(data::RangeSet(data::SampleRange{100, 100 + samples}), runs);
  std::vector<uint64_t> sizes;
  uint64_t next = 100;
  while (!round.rest().empty()) {
    const data::RangeSet run = round.Take(batch);
    EXPECT_EQ(run.ranges().front().begin, next);
    next += run.total();
    sizes.push_back(run.total());
  }
  return sizes;
}

TEST(ApplyPointsTest, ARoundIsMadeInRunsOfAboutAsManyStepsEach) {
  using Sizes = std::vector<uint64_t>;
  EXPECT_EQ(RunsOf(12, 1, 1), Sizes({12}));
  EXPECT_EQ(RunsOf(12, 1, 4), Sizes({3, 3, 3, 3}));
  EXPECT_EQ(RunsOf(24, 2, 5), Sizes({4, 4, 4, 6, 6}));
  EXPECT_EQ(RunsOf(3, 1, 9), Sizes({1, 1, 1}));
  // The last step has fewer samples, and no run is without one.
  EXPECT_EQ(RunsOf(11, 4, 3), Sizes({4, 4, 3}));
  EXPECT_EQ(RunsOf(3, 4, 2), Sizes({3}));
}

class Clock {
 public:
  StopTimes times;

  void Run(absl::Duration took, uint64_t steps, double compute_s) {
    RunReport report;
    report.inner_steps = steps;
    report.compute_s = compute_s;
    times.OnRunBegins(now_);
    now_ = now_ + took;
    times.OnRunEnds(now_, report);
  }
  // And a run that is over at once.
  void Stop(absl::Duration took) {
    times.OnStop(now_);
    now_ = now_ + took;
    times.OnRunBegins(now_);
  }
  void Merge(absl::Duration took) {
    times.OnMergeBegins(now_);
    now_ = now_ + took;
    times.OnMergeEnds(now_);
  }

 private:
  Instant now_;
};

// Steps of 100 ms, which the trainer computes for all of a run but 1 ms.
Clock Learnt(absl::Duration stop, absl::Duration apply) {
  Clock clock;
  for (int i = 0; i < 20; ++i) {
    clock.Run(absl::Seconds(1), 10, 0.999);
    clock.Stop(stop);
    clock.times.OnSnapshot(apply / 4);
    clock.Merge(apply * 0.75);
  }
  return clock;
}

TEST(ApplyPointsTest, AsManyAsCostLessThanAHundredthOfTheRound) {
  const StopTimes times =
      Learnt(absl::Milliseconds(1), absl::Milliseconds(5)).times;
  // 100 steps take 10 s, so stops may take 100 ms less 5 ms, at 2 ms each.
  EXPECT_EQ(times.AffordablePoints(100), 48u);
  EXPECT_EQ(times.AffordablePoints(10), 3u);
  // What an apply alone takes is more than that.
  EXPECT_EQ(times.AffordablePoints(4), 1u);
  EXPECT_EQ(times.AffordablePoints(0), 1u);
  EXPECT_EQ(Learnt(absl::ZeroDuration(), absl::Milliseconds(5))
                .times.AffordablePoints(100),
            96u);
}

TEST(ApplyPointsTest, TheFirstStopIsMadeToMeasureIt) {
  Clock clock;
  EXPECT_EQ(clock.times.AffordablePoints(100), 1u);
  clock.Run(absl::Seconds(10), 100, 10);
  EXPECT_EQ(clock.times.AffordablePoints(100), 2u);
  clock.Stop(absl::Milliseconds(10));
  EXPECT_EQ(clock.times.AffordablePoints(100), 11u);
}

// One slow stop is forgotten, and one at which a result was applied is none.
TEST(ApplyPointsTest, TheNewestTimesCountMost) {
  Clock clock = Learnt(absl::Milliseconds(1), absl::Milliseconds(5));
  clock.Stop(absl::Seconds(10));
  EXPECT_EQ(clock.times.AffordablePoints(100), 1u);
  for (int i = 0; i < 60; ++i) clock.Stop(absl::Milliseconds(1));
  const uint64_t points = clock.times.AffordablePoints(100);
  EXPECT_GT(points, 40u);
  clock.times.OnStop(Instant());
  clock.times.OnApply();
  clock.times.OnRunBegins(Instant(absl::Hours(1)));
  EXPECT_EQ(clock.times.AffordablePoints(100), points);
}

}  // namespace
}  // namespace skerry::worker
