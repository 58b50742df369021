#include "runtime/posix/posix_loop.h"

#include <gtest/gtest.h>

#include <future>

#include "runtime/testing/event_loop_conformance.h"

namespace skerry::runtime {
namespace {

class PosixLoopDriver {
 public:
  EventLoop& loop() { return loop_; }
  void Await(std::function<void(Task done)> body) {
    std::promise<void> done;
    loop_.Post([&] { body([&done] { done.set_value(); }); });
    done.get_future().get();
  }

 private:
  PosixLoop loop_{"test-loop"};
};

INSTANTIATE_TYPED_TEST_SUITE_P(PosixLoop, EventLoopConformance,
                               PosixLoopDriver);

TEST(PosixLoopTest, StopRunsWhatWasPostedAndWhatThatPosts) {
  PosixLoop loop("test-loop");
  int ran = 0;
  loop.Post([&] {
    ++ran;
    loop.Post([&] {
      ++ran;
      loop.Post([&] { ++ran; });
    });
  });
  loop.Stop();
  EXPECT_EQ(ran, 3);
}

TEST(PosixLoopTest, WhatComesAfterStopIsDestroyedUnrun) {
  PosixLoop loop("test-loop");
  auto held = std::make_shared<bool>(false);
  loop.Post([&, held] {
    loop.RunAt(loop.Now() + absl::Hours(1), [held] { *held = true; });
  });
  loop.Stop();
  loop.Post([held] { *held = true; });
  EXPECT_FALSE(*held);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(PosixLoopTest, AnEarlierTimerWakesALoopThatSleepsForALaterOne) {
  PosixLoop loop("test-loop");
  std::promise<void> done;
  loop.Post([&] { loop.RunAt(loop.Now() + absl::Hours(1), [] { FAIL(); }); });
  loop.Post([&] {
    loop.RunAt(loop.Now() + absl::Milliseconds(1), [&] { done.set_value(); });
  });
  done.get_future().get();
}

}  // namespace
}  // namespace skerry::runtime
