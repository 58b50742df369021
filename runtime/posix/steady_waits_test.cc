#include "runtime/posix/steady_waits.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

TEST(SteadyWaitsTest, LibrariesCallWhatThisProgramLinked) {
  EXPECT_TRUE(WaitsAreSteady());
  Dl_info found;
  Dl_info ours;
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "syscall"), &found), 0);
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&WaitsAreSteady), &ours), 0);
  EXPECT_STREQ(found.dli_fname, ours.dli_fname);
}

TEST(SteadyWaitsTest, AWaitLastsAsLongAsItIsAskedTo) {
  absl::Mutex mutex;
  const auto begin = std::chrono::steady_clock::now();
  {
    absl::MutexLock lock(&mutex);
    bool never = false;
    EXPECT_FALSE(mutex.AwaitWithTimeout(absl::Condition(&never),
                                        absl::Milliseconds(20)));
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin,
            std::chrono::milliseconds(20));
}

TEST(SteadyWaitsTest, AMomentThatHasPassedIsNotWaitedFor) {
  int32_t word = 0;
  for (const timespec passed : {timespec{0, 0}, timespec{1, 5}}) {
    EXPECT_EQ(
        syscall(SYS_futex, &word,
                FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME,
                0, &passed, nullptr, FUTEX_BITSET_MATCH_ANY),
        -1);
    EXPECT_EQ(errno, ETIMEDOUT);
  }
}

TEST(SteadyWaitsTest, OtherCallsAreAsTheyWere) {
  EXPECT_EQ(syscall(SYS_getpid), getpid());
  int32_t word = 1;
  EXPECT_EQ(syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0,
                    nullptr, nullptr, 0),
            -1);
  EXPECT_EQ(errno, EAGAIN);
}

}  // namespace
}  // namespace skerry::runtime
