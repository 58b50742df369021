#include "runtime/posix/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
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

// All threads are inside a body at once, so none can have taken a second one.
TEST(ThreadPoolTest, AThreadBeginsEveryLoopWithItsOwnShare) {
  ThreadPool pool("pool", 3);
  std::vector<std::thread::id> first;
  for (int loop = 0; loop < 3; ++loop) {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<size_t, std::thread::id> inside;
    pool.ForEach(9, [&](size_t i) {
      std::unique_lock lock(mutex);
      if (inside.size() == 3) return;
      inside[i] = std::this_thread::get_id();
      changed.notify_all();
      changed.wait(lock, [&] { return inside.size() == 3; });
    });
    ASSERT_TRUE(inside.contains(0) && inside.contains(3) && inside.contains(6));
    EXPECT_EQ(inside[0], std::this_thread::get_id());
    const std::vector<std::thread::id> threads = {inside[0], inside[3],
                                                  inside[6]};
    if (loop == 0) first = threads;
    EXPECT_EQ(threads, first);
  }
}

TEST(ThreadPoolTest, WhatASlowThreadHasNotBegunIsTakenByOthers) {
  ThreadPool pool("pool", 2);
  std::mutex mutex;
  std::condition_variable changed;
  size_t done = 0;
  pool.ForEach(10, [&](size_t i) {
    std::unique_lock lock(mutex);
    if (i == 0) changed.wait(lock, [&] { return done == 9; });
    ++done;
    changed.notify_all();
  });
  EXPECT_EQ(done, 10);
}

}  // namespace
}  // namespace skerry::runtime
