// runtime/testing/event_loop_conformance.h
//
// Tests what every event loop must do. A driver has
//   EventLoop& loop();
//   void Await(std::function<void(Task done)> body);
// Await runs `body` as a task of the loop. It returns once `done` has been run,
// and what the loop wrote is visible then.
#ifndef SKERRY_RUNTIME_TESTING_EVENT_LOOP_CONFORMANCE_H_
#define SKERRY_RUNTIME_TESTING_EVENT_LOOP_CONFORMANCE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/event_loop.h"

namespace skerry::runtime {

template <typename Driver>
class EventLoopConformance : public testing::Test {
 protected:
  EventLoop& loop() { return driver_.loop(); }
  Driver driver_;
};

TYPED_TEST_SUITE_P(EventLoopConformance);

TYPED_TEST_P(EventLoopConformance, TasksRunInTheOrderTheyWerePosted) {
  std::string order;
  this->driver_.Await([&](Task done) {
    for (const char name : {'a', 'b', 'c'}) {
      this->loop().Post([&order, name] { order += name; });
    }
    this->loop().Post(std::move(done));
    order += '0';
  });
  EXPECT_EQ(order, "0abc");
}

TYPED_TEST_P(EventLoopConformance, TimersRunByInstantThenByOrderOfTheCalls) {
  std::string order;
  this->driver_.Await([&](Task done) {
    const Instant base = this->loop().Now();
    const auto at = [&](int ms, char name) {
      this->loop().RunAt(base + absl::Milliseconds(ms),
                         [&order, name] { order += name; });
    };
    at(4, 'e');
    at(2, 'b');
    at(2, 'c');
    at(0, 'a');
    at(3, 'd');
    this->loop().RunAt(base + absl::Milliseconds(5), std::move(done));
  });
  EXPECT_EQ(order, "abcde");
}

TYPED_TEST_P(EventLoopConformance, NoTimerRunsBeforeItsInstant) {
  Instant due;
  Instant ran;
  this->driver_.Await([&](Task done) {
    due = this->loop().Now() + absl::Milliseconds(2);
    this->loop().RunAt(due, [&, done = std::move(done)]() mutable {
      ran = this->loop().Now();
      std::move(done)();
    });
  });
  EXPECT_GE(ran, due);
}

TYPED_TEST_P(EventLoopConformance, ATimerThatArmsItselfForNowLetsPostsThrough) {
  int turns = 0;
  bool stop = false;
  std::function<void()> again;
  Task post;
  // Where no post gets through, this never returns.
  this->driver_.Await([&](Task done) {
    post = [&stop, done = std::move(done)]() mutable {
      stop = true;
      std::move(done)();
    };
    again = [&] {
      if (stop) return;
      if (++turns == 10) this->loop().Post(std::move(post));
      this->loop().RunAt(this->loop().Now(), again);
    };
    this->loop().RunAt(this->loop().Now(), again);
  });
  // The last turn may still be under way.
  this->driver_.Await([](Task done) { std::move(done)(); });
  EXPECT_GE(turns, 10);
}

TYPED_TEST_P(EventLoopConformance, PostsOfManyThreadsAllRunEachThreadsInOrder) {
  constexpr int kThreads = 4;
  constexpr int kPosts = 500;
  std::vector<int> last(kThreads, -1);
  bool in_order = true;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kPosts; ++i) {
        this->loop().Post([&, t, i] {
          in_order = in_order && last[t] == i - 1;
          last[t] = i;
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  this->driver_.Await([](Task done) { std::move(done)(); });
  EXPECT_TRUE(in_order);
  EXPECT_EQ(last, std::vector<int>(kThreads, kPosts - 1));
}

TYPED_TEST_P(EventLoopConformance, ATaskIsDestroyedOnceItHasRun) {
  auto held = std::make_shared<int>(1);
  std::weak_ptr<int> watch = held;
  bool expired = false;
  this->driver_.Await([&](Task done) {
    this->loop().Post([held = std::move(held)] {});
    this->loop().Post([&, done = std::move(done)]() mutable {
      expired = watch.expired();
      std::move(done)();
    });
  });
  EXPECT_TRUE(expired);
}

REGISTER_TYPED_TEST_SUITE_P(EventLoopConformance,
                            TasksRunInTheOrderTheyWerePosted,
                            TimersRunByInstantThenByOrderOfTheCalls,
                            NoTimerRunsBeforeItsInstant,
                            ATimerThatArmsItselfForNowLetsPostsThrough,
                            PostsOfManyThreadsAllRunEachThreadsInOrder,
                            ATaskIsDestroyedOnceItHasRun);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_TESTING_EVENT_LOOP_CONFORMANCE_H_
