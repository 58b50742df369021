#include "runtime/posix/signal_wait.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <future>
#include <thread>

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

// Libraries start threads before main can block anything.
TEST(SignalWaitTest, ASignalOfAThreadThatDoesNotBlockItIsNotLost) {
  std::promise<void> ready;
  std::promise<void> may_end;
  std::thread older([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
    ready.set_value();
    may_end.get_future().wait();
  });
  ready.get_future().wait();
  {
    SignalWait signals;
    kill(getpid(), SIGTERM);
    EXPECT_EQ(signals.Wait(), SIGTERM);
    pthread_kill(older.native_handle(), SIGINT);
    EXPECT_EQ(signals.Wait(), SIGINT);
  }
  may_end.set_value();
  older.join();
}

TEST(SignalWaitTest, AWaitEndsWithItsTimeOrASignal) {
  SignalWait signals;
  EXPECT_EQ(signals.WaitFor(absl::Milliseconds(1)), 0);
  kill(getpid(), SIGTERM);
  EXPECT_EQ(signals.WaitFor(absl::Hours(1)), SIGTERM);
}

}  // namespace
}  // namespace skerry::runtime
