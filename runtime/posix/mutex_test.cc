#include "runtime/posix/mutex.h"

#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "runtime/posix/monotonic_clock.h"

namespace skerry::runtime {
namespace {

constexpr Instant kNever = Instant(absl::InfiniteDuration());

// A place where threads meet.
class Gate {
 public:
  void Open() {
    const MutexLock lock(mutex_);
    is_open_ = true;
    opened_.NotifyAll();
  }
  void Await() {
    const MutexLock lock(mutex_);
    ++waiting_;
    came_.NotifyOne();
    while (!is_open_) opened_.Wait(mutex_);
  }
  // Returns whether the gate was open before it was `when`.
  bool AwaitUntil(Instant when) {
    const MutexLock lock(mutex_);
    ++waiting_;
    came_.NotifyOne();
    while (!is_open_) {
      if (!opened_.WaitUntil(mutex_, when)) return is_open_;
    }
    return true;
  }
  void AwaitWaiting(int count) {
    const MutexLock lock(mutex_);
    while (waiting_ < count) came_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar opened_;
  CondVar came_;
  bool is_open_ ABSL_GUARDED_BY(mutex_) = false;
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST(MutexTest, OneThreadHoldsItAtATime) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 20'000;
  Mutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < kTimes; ++j) {
        const MutexLock lock(mutex);
        // The compiler may not add once for many turns.
        const volatile int& before = count;
        count = before + 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kTimes);
}

TEST(MutexTest, WaitsLetGoOfTheMutexAndHaveItAgainAfterwards) {
  Gate gate;
  std::thread waits([&] { gate.Await(); });
  bool is_open = false;
  std::thread waits_until([&] { is_open = gate.AwaitUntil(kNever); });
  // Both would hold it here if waits kept it.
  gate.AwaitWaiting(2);
  gate.Open();
  waits.join();
  waits_until.join();
  EXPECT_TRUE(is_open);
}

TEST(MutexTest, AWaitEndsAtItsMomentOfTheMonotonicClock) {
  Gate gate;
  EXPECT_FALSE(gate.AwaitUntil(Instant()));
  const Instant soon = MonotonicNow() + absl::Milliseconds(5);
  EXPECT_FALSE(gate.AwaitUntil(soon));
  EXPECT_GE(MonotonicNow(), soon);
}

TEST(MutexTest, ABlockMayLetGoAndTakeItAgain) {
  Mutex mutex;
  MutexLock lock(mutex);
  lock.Unlock();
  { const MutexLock other(mutex); }
  lock.Lock();
}

}  // namespace
}  // namespace skerry::runtime
