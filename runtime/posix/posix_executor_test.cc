#include "runtime/posix/posix_executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <vector>

namespace skerry::runtime {
namespace {

TEST(PosixExecutorTest, TasksLeftAtTheEndAreRunFirst) {
  std::atomic<int> ran = 0;
  {
    PosixExecutor executor("test", 3);
    for (int i = 0; i < 1000; ++i) executor.Run([&ran] { ++ran; });
  }
  EXPECT_EQ(ran, 1000);
}

TEST(PosixExecutorTest, AsManyTasksRunAtOnceAsThereAreThreads) {
  // Each task waits for the two others, so all three must be running.
  std::latch all(4);
  PosixExecutor executor("test", 3);
  for (int i = 0; i < 3; ++i) {
    executor.Run([&all] { all.arrive_and_wait(); });
  }
  all.arrive_and_wait();
}

TEST(PosixExecutorTest, OneThreadKeepsTheOrder) {
  std::vector<int> order;
  {
    PosixExecutor executor("test", 1);
    for (int i = 0; i < 100; ++i) {
      executor.Run([&order, i] { order.push_back(i); });
    }
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order.at(i), i);
}

}  // namespace
}  // namespace skerry::runtime
