#include "transport/grpc/refusals.h"

#include "gtest/gtest.h"

namespace skerry::transport {
namespace {

TEST(RefusalsTest, ManyAtOnceGetFewLinesAndNoneIsForgotten) {
  Refusals refusals;
  const absl::Time start = absl::FromUnixSeconds(1000);
  int lines = 0;
  uint64_t unsaid = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto told = refusals.Count(start + i * absl::Milliseconds(1));
    if (!told.has_value()) continue;
    ++lines;
    unsaid += *told;
  }
  EXPECT_GE(lines, 25);
  EXPECT_LE(lines, 30);
  const auto later = refusals.Count(start + absl::Hours(1));
  ASSERT_TRUE(later.has_value());
  EXPECT_EQ(lines + unsaid + *later, 10'000u);
}

TEST(RefusalsTest, OneNowAndThenAlwaysGetsItsLine) {
  Refusals refusals;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(refusals.Count(absl::FromUnixSeconds(2 * i)), 0u);
  }
}

}  // namespace
}  // namespace skerry::transport
