#include "simulator/absences.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace skerry::sim {
namespace {

const Preemption kHourly = {absl::Minutes(54), absl::Minutes(6)};

TEST(AbsencesTest, TheShareThatIsThereIsThatOfTheMeans) {
  const absl::Duration horizon = absl::Hours(2000);
  const auto absences = DrawAbsences(kHourly, 20, horizon, 7);
  EXPECT_NEAR(static_cast<double>(absences.size()), 20 * 2000, 1000);
  EXPECT_NEAR(LiveShare(absences, 20, absl::ZeroDuration(), horizon), 0.9,
              0.005);
}

TEST(AbsencesTest, OneWorkerIsAwayOnceAtATime) {
  const auto absences = DrawAbsences(kHourly, 1, absl::Hours(500), 3);
  for (size_t i = 1; i < absences.size(); ++i) {
    EXPECT_LT(absences[i - 1].end, absences[i].begin);
  }
}

TEST(AbsencesTest, MoreWorkersLeaveTheOthersAsTheyAre) {
  const auto two = DrawAbsences(kHourly, 2, absl::Hours(50), 3);
  auto three = DrawAbsences(kHourly, 3, absl::Hours(50), 3);
  std::erase_if(three, [](const Absence& one) { return one.worker == 2; });
  EXPECT_EQ(two, three);
  EXPECT_NE(two, DrawAbsences(kHourly, 2, absl::Hours(50), 4));
}

TEST(AbsencesTest, OnlyTheWindowCounts) {
  const std::vector<Absence> absences = {
      {0, absl::Seconds(10), absl::Seconds(30)},
      {1, absl::Seconds(90), absl::Seconds(300)}};
  EXPECT_EQ(LiveShare(absences, 2, absl::Seconds(20), absl::Seconds(100)),
            1 - 20.0 / 160);
}

}  // namespace
}  // namespace skerry::sim
