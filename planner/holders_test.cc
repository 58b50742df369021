#include "planner/holders.h"

#include <algorithm>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace skerry::planner {
namespace {

TEST(HoldersTest, EverySpanHasOneHolderAndNoneHoldsMoreThanItMust) {
  for (uint32_t spans = 1; spans <= 70; ++spans) {
    for (uint32_t workers = 1; workers <= 20; ++workers) {
      const auto holders = SplitSpans(spans, workers);
      ASSERT_TRUE(holders.ok());
      ASSERT_EQ(holders->runs.size(), workers);
      uint32_t at = 0;
      uint32_t most = 0;
      uint32_t least = spans;
      for (const SpanRun& run : holders->runs) {
        ASSERT_EQ(run.begin, at);
        at = run.end;
        most = std::max(most, run.size());
        least = std::min(least, run.size());
      }
      ASSERT_EQ(at, spans);
      ASSERT_EQ(most, (spans + workers - 1) / workers);
      ASSERT_LE(most - least, 1u);
    }
  }
}

TEST(HoldersTest, IdleWorkersAreMentioned) {
  EXPECT_NE(SplitSpans(2, 3)->reason.find("1 of 3"), std::string::npos);
}

TEST(HoldersTest, NothingCannotBeSplit) {
  EXPECT_TRUE(absl::IsInvalidArgument(SplitSpans(0, 1).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(SplitSpans(1, 0).status()));
}

}  // namespace
}  // namespace skerry::planner
