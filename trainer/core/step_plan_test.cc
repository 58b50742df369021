#include "trainer/core/step_plan.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StepPlanTest, StepsCrossRangesAndTheLastTakesWhatIsLeft) {
  const RunRequest request{{{10, 13}, {20, 21}, {30, 33}}, 3};
  ASSERT_TRUE(ValidateRunRequest(request).ok());
  StepPlan plan(request);
  EXPECT_THAT(plan.Next(), ElementsAre(10, 11, 12));
  EXPECT_THAT(plan.Next(), ElementsAre(20, 30, 31));
  EXPECT_THAT(plan.Next(), ElementsAre(32));
  EXPECT_THAT(plan.Next(), IsEmpty());
  EXPECT_EQ(StepCount(request), 3u);
}

TEST(StepPlanTest, TotalsThatWouldOverflowAreRefused) {
  const uint64_t half = uint64_t{1} << 63;
  EXPECT_FALSE(ValidateRunRequest({{{0, half}, {half, 2 * half - 1}}, 1}).ok());
  EXPECT_FALSE(ValidateRunRequest({{{0, kSamplesPerRunMax}, {0, 1}}, 1}).ok());
  EXPECT_TRUE(ValidateRunRequest({{{0, kSamplesPerRunMax}}, 1}).ok());
}

TEST(RankPartTest, PartsAreContiguousEvenAndComplete) {
  for (size_t count = 0; count < 40; ++count) {
    std::vector<uint64_t> positions(count);
    for (size_t i = 0; i < count; ++i) positions[i] = 100 + i;
    for (int size = 1; size < 8; ++size) {
      std::vector<uint64_t> joined;
      for (int rank = 0; rank < size; ++rank) {
        const auto part = RankPart(positions, rank, size);
        EXPECT_LE(part.size(), (count + size - 1) / size);
        EXPECT_GE(part.size(), count / size);
        joined.insert(joined.end(), part.begin(), part.end());
      }
      EXPECT_EQ(joined, positions);
    }
  }
}

}  // namespace
}  // namespace skerry::trainer
