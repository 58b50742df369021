#include "coordinator/core/state/layout.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

TEST(LayoutTest, WorkersHoldEverySpanOnce) {
  const auto parts = SplitSpans(10, 3);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts.front().first, 0u);
  EXPECT_EQ(parts.back().second, 10u);
  for (size_t i = 1; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].first, parts[i - 1].second);
  }
}

TEST(LayoutTest, AnotherRotationGivesEverySpanAnotherOwner) {
  const auto first = EqualOwners(7, 3, 0);
  const auto second = EqualOwners(7, 3, 1);
  for (size_t span = 0; span < first.size(); ++span) {
    EXPECT_NE(first[span], second[span]);
    EXPECT_LT(second[span], 3u);
  }
}

TEST(LayoutTest, ASizeThatCannotBeCutHasNoSpans) {
  EXPECT_EQ(SpanCount(0, 64), 0u);
  EXPECT_EQ(SpanCount(uint64_t{1} << 60, 64), 0u);
  EXPECT_EQ(SpanCount(2 * 4096 + 1, 64), 3u);
}

}  // namespace
}  // namespace skerry::coordinator
