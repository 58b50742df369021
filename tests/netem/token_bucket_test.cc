#include "tests/netem/token_bucket.h"

#include <gtest/gtest.h>

namespace skerry::netem {
namespace {

Instant At(double seconds) { return Instant(absl::Seconds(seconds)); }

TEST(TokenBucketTest, BytesPassOneAfterTheOther) {
  TokenBucket bucket(1000);
  EXPECT_EQ(bucket.Book(500, At(10)), At(10.5));
  EXPECT_EQ(bucket.Book(250, At(10)), At(10.75));
  EXPECT_EQ(bucket.Book(250, At(10.5)), At(11));
}

TEST(TokenBucketTest, IdlingSavesNothingUp) {
  TokenBucket bucket(1000);
  bucket.Book(1000, At(10));
  EXPECT_EQ(bucket.Book(1000, At(100)), At(101));
}

TEST(TokenBucketTest, WithoutALimitNothingWaits) {
  TokenBucket bucket(0);
  EXPECT_EQ(bucket.Book(1 << 30, At(10)), At(10));
}

TEST(TokenBucketTest, ANewRateHoldsForWhatIsBookedLater) {
  TokenBucket bucket(1000);
  EXPECT_EQ(bucket.Book(1000, At(10)), At(11));
  bucket.SetRate(100);
  EXPECT_EQ(bucket.Book(100, At(10)), At(12));
}

}  // namespace
}  // namespace skerry::netem
