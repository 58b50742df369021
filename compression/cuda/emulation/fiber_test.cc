#include "compression/cuda/emulation/fiber.h"

#include <functional>
#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace skerry::compression::cuda::emulation {
namespace {

TEST(FiberTest, TwoTakeTurnsAndKeepWhatIsOnTheirStacks) {
  std::string told;
  Fiber one;
  Fiber two;
  const std::function<void()> first = [&] {
    for (int i = 0; i < 3; ++i) {
      told += static_cast<char>('a' + i);
      one.Pause();
    }
  };
  const std::function<void()> second = [&] {
    for (int i = 0; i < 3; ++i) {
      told += static_cast<char>('x' + i);
      two.Pause();
    }
  };
  one.Start(first);
  two.Start(second);
  for (int i = 0; i < 4; ++i) {
    one.Resume();
    two.Resume();
  }
  EXPECT_EQ(told, "axbycz");
  EXPECT_TRUE(one.ended());
  EXPECT_TRUE(two.ended());
}

TEST(FiberTest, OneThatHasEndedStartsAnew) {
  int runs = 0;
  const std::function<void()> body = [&] { ++runs; };
  Fiber fiber;
  for (int i = 0; i < 3; ++i) {
    fiber.Start(body);
    EXPECT_FALSE(fiber.ended());
    fiber.Resume();
    EXPECT_TRUE(fiber.ended());
  }
  EXPECT_EQ(runs, 3);
}

TEST(FiberTest, OneMayBeDestroyedInTheMiddle) {
  int steps = 0;
  auto fiber = std::make_unique<Fiber>();
  const std::function<void()> body = [&] {
    while (true) {
      ++steps;
      fiber->Pause();
    }
  };
  fiber->Start(body);
  fiber->Resume();
  fiber->Resume();
  fiber.reset();
  EXPECT_EQ(steps, 2);
}

}  // namespace
}  // namespace skerry::compression::cuda::emulation
