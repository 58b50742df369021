#include "worker/core/live.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

Values Of(std::vector<float> values) {
  return std::make_shared<const std::vector<float>>(std::move(values));
}

TrainerMemory Memory(size_t count) {
  auto owner = std::make_shared<std::vector<float>>(count);
  return {owner, *owner};
}

TEST(LiveBookTest, ReplacingStartsAtTheAnchorAndKeepsNoCopy) {
  const auto options = *optimizer::OuterPreset("co2");
  LiveBook live;
  const SpanState anchor{Sequence(1), Of({5, 6, 9, 9}), 0};
  const TrainerMemory memory = Memory(3);
  EXPECT_EQ(live.Merge(options, 1, 0, anchor, {1, 3}, memory, false)(),
            nullptr);
  EXPECT_EQ(memory.values[0], 0);
  EXPECT_EQ(memory.values[1], 5);
  EXPECT_EQ(memory.values[2], 6);
  live.Started(0, nullptr);
  EXPECT_EQ(live.StartOf(0, anchor), anchor.values);
}

TEST(LiveBookTest, LocalDeltaIsCarriedOverOnceThereIsARound) {
  const auto options = *optimizer::OuterPreset("average_plus_local_delta");
  LiveBook live;
  const TrainerMemory memory = Memory(1);
  const SpanState first{Sequence(0), Of({1}), 0};
  live.Started(0, live.Merge(options, 1, 0, first, {0, 1}, memory, false)());
  EXPECT_EQ(memory.values[0], 1);
  live.Keep(0, Of({4}));  // the round moved it by 3
  const SpanState second{Sequence(1), Of({10}), 0};
  const Values start =
      live.Merge(options, 1, 0, second, {0, 1}, memory, false)();
  EXPECT_EQ(memory.values[0], 13);
  live.Started(0, start);
  EXPECT_EQ((*live.StartOf(0, second))[0], 13);
  live.Keep(0, Of({14}));
  EXPECT_EQ((*live.Merge(options, 1, 0, second, {0, 1}, memory, true)())[0],
            10);
}

}  // namespace
}  // namespace skerry::worker
