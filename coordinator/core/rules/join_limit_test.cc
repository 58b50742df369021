#include "coordinator/core/rules/join_limit.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

using testing::HasSubstr;

Instant At(double seconds) { return Instant(absl::Seconds(seconds)); }

TEST(JoinLimitTest, TenFailuresAMinute) {
  JoinLimit limit;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(limit.Check("a", At(i)).ok());
    limit.Failed("a", At(i));
  }
  const absl::Status refused = limit.Check("a", At(30));
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("wait 30 s"));
  EXPECT_TRUE(limit.Check("b", At(30)).ok());
  EXPECT_TRUE(limit.Check("a", At(60)).ok());
  limit.Failed("a", At(60));
  EXPECT_TRUE(absl::IsResourceExhausted(limit.Check("a", At(60.5))));
}

TEST(JoinLimitTest, ManyAddressesShareACount) {
  JoinLimit limit;
  for (int i = 0; i < 5000; ++i) limit.Failed(absl::StrCat(i), At(0));
  EXPECT_TRUE(limit.Check("17", At(1)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(limit.Check("new", At(1))));
  EXPECT_TRUE(limit.Check("new", At(60)).ok());
}

}  // namespace
}  // namespace skerry::coordinator
