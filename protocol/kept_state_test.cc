#include "protocol/kept_state.h"

#include <gtest/gtest.h>

namespace skerry::protocol {
namespace {

TEST(KeptStateTest, NothingIsLostWithoutADecision) {
  EXPECT_FALSE(IsLost({}, Sequence(9), Attempt(7)));
}

TEST(KeptStateTest, WhatFollowsByAnOlderAttemptIsLost) {
  const KeptState kept{Sequence(2), Attempt(20), Attempt(100)};
  EXPECT_TRUE(IsLost(kept, Sequence(3), Attempt(29)));
  EXPECT_FALSE(IsLost(kept, Sequence(3), Attempt(101)));
}

TEST(KeptStateTest, AnotherStateOfTheKeptSequenceIsLost) {
  const KeptState kept{Sequence(2), Attempt(20), Attempt(100)};
  EXPECT_TRUE(IsLost(kept, Sequence(2), Attempt(29)));
  EXPECT_FALSE(IsLost(kept, Sequence(2), Attempt(20)));
  EXPECT_FALSE(IsLost(kept, Sequence(1), Attempt(10)));
  EXPECT_FALSE(
      IsLost({Sequence(2), Attempt(), Attempt(100)}, Sequence(2), Attempt(29)));
}

TEST(KeptStateTest, AStateOfUnknownOriginIsNotCalledLost) {
  const KeptState kept{Sequence(2), Attempt(20), Attempt(100)};
  EXPECT_FALSE(IsLost(kept, Sequence(3), Attempt()));
}

}  // namespace
}  // namespace skerry::protocol
