#include "planner/islands.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace skerry::planner {
namespace {

TEST(IslandsTest, IslandsAndWorkersKeepTheirOrder) {
  const auto islands = ParseIslands("us-east=w.1,w_0;eu=w-2");
  ASSERT_TRUE(islands.ok()) << islands.status();
  EXPECT_EQ(*islands, (std::vector<Island>{{"us-east", {"w.1", "w_0"}},
                                           {"eu", {"w-2"}}}));
}

TEST(IslandsTest, WhatIsNotUnderstoodIsRefused) {
  for (const auto text : {"", "eu", "eu=", "=w", "eu=a,,b", "eu=a;", "eu=a b",
                          "eu=a;eu=b", "eu=a;us=a", "eu=a,a", "eu=a=b"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseIslands(text).status())) << text;
  }
}

}  // namespace
}  // namespace skerry::planner
