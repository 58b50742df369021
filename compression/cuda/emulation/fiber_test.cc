#include "compression/cuda/emulation/fiber.h"

#include <functional>
#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace skerry::compression::cuda::emulation {
namespace {

TEST(FiberTest, ThreeTakeTurnsAndKeepWhatIsOnTheirStacks) {
  std::string told;
  Fiber main;
  std::unique_ptr<Fiber> one;
  std::unique_ptr<Fiber> two;
  const std::function<void()> first = [&] {
    for (char name = 'a';; ++name) {
      told += name;
      one->SwitchTo(*two);
    }
  };
  const std::function<void()> second = [&] {
    for (char name = 'x';; ++name) {
      told += name;
      two->SwitchTo(main);
    }
  };
  one = std::make_unique<Fiber>(first);
  two = std::make_unique<Fiber>(second);
  for (int i = 0; i < 3; ++i) {
    told += '.';
    main.SwitchTo(*one);
  }
  EXPECT_EQ(told, ".ax.by.cz");
}

TEST(FiberTest, OneMayBeDestroyedInTheMiddle) {
  int steps = 0;
  Fiber main;
  for (int i = 0; i < 3; ++i) {
    std::unique_ptr<Fiber> fiber;
    const std::function<void()> body = [&] {
      while (true) {
        ++steps;
        fiber->SwitchTo(main);
      }
    };
    fiber = std::make_unique<Fiber>(body);
    main.SwitchTo(*fiber);
    main.SwitchTo(*fiber);
  }
  EXPECT_EQ(steps, 6);
}

}  // namespace
}  // namespace skerry::compression::cuda::emulation
