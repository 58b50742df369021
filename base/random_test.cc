#include "base/random.h"

#include "gtest/gtest.h"

namespace skerry {
namespace {

// First output of SplitMix64 seeded with 0, from its authors' reference code.
TEST(RandomTest, MixMatchesTheReference) {
  EXPECT_EQ(Mix64(0), 0xe220a8397b1dcdafull);
}

TEST(RandomTest, SameSeedSameSequence) {
  Random a(7);
  Random b(7);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(a(), b());
}

TEST(RandomTest, BelowIsUniform) {
  Random random(1);
  int counts[7] = {};
  for (int i = 0; i < 70000; ++i) ++counts[random.Below(7)];
  for (int count : counts) EXPECT_NEAR(count, 10000, 500);
}

}  // namespace
}  // namespace skerry
