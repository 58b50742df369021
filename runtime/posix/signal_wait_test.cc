#include "runtime/posix/signal_wait.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <future>

#include "runtime/posix/posix_loop.h"

namespace skerry::runtime {
namespace {

TEST(SignalWaitTest, SignalsArriveAsTasksOfTheLoop) {
  SignalWait signals;
  PosixLoop loop("test-loop");
  std::promise<int> got;
  signals.Deliver(loop, [&got](int signal) { got.set_value(signal); });
  kill(getpid(), SIGTERM);
  EXPECT_EQ(got.get_future().get(), SIGTERM);
}

TEST(SignalWaitTest, ASignalBeforeTheWaitIsNotLost) {
  SignalWait signals;
  kill(getpid(), SIGINT);
  EXPECT_EQ(signals.Wait(), SIGINT);
}

TEST(SignalWaitTest, AWaitEndsWithItsTimeOrASignal) {
  SignalWait signals;
  EXPECT_EQ(signals.WaitFor(absl::Milliseconds(1)), 0);
  kill(getpid(), SIGTERM);
  EXPECT_EQ(signals.WaitFor(absl::Hours(1)), SIGTERM);
}

}  // namespace
}  // namespace skerry::runtime
