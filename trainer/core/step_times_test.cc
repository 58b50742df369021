#include "trainer/core/step_times.h"

#include "gtest/gtest.h"

namespace skerry::trainer {
namespace {

TEST(StepTimesTest, TheLongestIsOfTheLastHundred) {
  StepTimes times;
  EXPECT_EQ(times.Longest(), 0);
  times.Add(7);
  EXPECT_EQ(times.Longest(), 7);
  for (int i = 0; i < 99; ++i) times.Add(2);
  EXPECT_EQ(times.Longest(), 7);
  times.Add(1);
  EXPECT_EQ(times.Longest(), 2);
  EXPECT_EQ(times.count(), 101u);
}

}  // namespace
}  // namespace skerry::trainer
