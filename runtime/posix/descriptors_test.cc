#include "runtime/posix/descriptors.h"

#include <sys/resource.h>

#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

TEST(DescriptorsTest, TheSoftLimitBecomesTheHardOne) {
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = 64;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  RaiseDescriptorLimit();
  rlimit raised = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &raised), 0);
  EXPECT_EQ(raised.rlim_cur, limit.rlim_max);
  EXPECT_EQ(raised.rlim_max, limit.rlim_max);
}

}  // namespace
}  // namespace skerry::runtime
