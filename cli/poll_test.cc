#include "cli/poll.h"

#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

constexpr absl::Duration kSoon = absl::Milliseconds(1);

TEST(PollTest, AsksUntilItIsTrue) {
  int asked = 0;
  EXPECT_TRUE(PollUntil(kSoon, absl::InfiniteDuration(), [&] {
                return absl::StatusOr<bool>(++asked == 3);
              }).ok());
  EXPECT_EQ(asked, 3);
}

TEST(PollTest, AnErrorEndsIt) {
  const absl::Status status = PollUntil(kSoon, absl::InfiniteDuration(), [] {
    return absl::StatusOr<bool>(absl::NotFoundError("x"));
  });
  EXPECT_TRUE(absl::IsNotFound(status));
}

TEST(PollTest, EndsWhenTheTimeIsOver) {
  int asked = 0;
  const absl::Status status = PollUntil(absl::Hours(1), kSoon, [&] {
    ++asked;
    return absl::StatusOr<bool>(false);
  });
  EXPECT_TRUE(absl::IsDeadlineExceeded(status));
  EXPECT_GE(asked, 1);
}

}  // namespace
}  // namespace skerry::cli
