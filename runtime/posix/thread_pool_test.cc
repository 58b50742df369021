#include "runtime/posix/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::runtime {
namespace {

TEST(ThreadPoolTest, EveryIndexIsVisitedOnceBeforeForEachReturns) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool("pool", threads);
    EXPECT_EQ(pool.thread_count(), threads);
    for (size_t count = 0; count < 200; ++count) {
      std::vector<int> visits(count, 0);
      pool.ForEach(count, [&](size_t i) { ++visits[i]; });
      ASSERT_EQ(visits, std::vector<int>(count, 1));
    }
  }
}

// The bodies wait for each other, so one thread alone could not end this.
TEST(ThreadPoolTest, BodiesRunAtTheSameTime) {
  ThreadPool pool("pool", 3);
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  pool.ForEach(3, [&](size_t) {
    std::unique_lock lock(mutex);
    ++inside;
    changed.notify_all();
    changed.wait(lock, [&] { return inside == 3; });
  });
  EXPECT_EQ(inside, 3);
}

}  // namespace
}  // namespace skerry::runtime
