#include "worker/core/live.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::worker {
namespace {

Values Of(std::vector<float> values) {
  return std::make_shared<const std::vector<float>>(std::move(values));
}

using At = LiveChange::At;

TrainerMemory Memory(size_t count) {
  auto owner = std::make_shared<std::vector<float>>(count);
  return {owner, *owner};
}

TEST(LiveBookTest, ReplacingStartsAtTheAnchorAndKeepsNoCopy) {
  const auto options = *optimizer::OuterPreset("co2");
  LiveBook live;
  const SpanState anchor{Sequence(1), Of({5, 6, 9, 9}), 0};
  const TrainerMemory memory = Memory(3);
  const LiveChange change{LiveChange::At::kBoundary, false, 1.0f};
  EXPECT_EQ(live.Merge(options, change, 0, anchor, {1, 3}, memory)(), nullptr);
  EXPECT_EQ(memory.values[0], 0);
  EXPECT_EQ(memory.values[1], 5);
  EXPECT_EQ(memory.values[2], 6);
  live.Started(0, anchor, nullptr);
  EXPECT_EQ(live.StartOf(0, anchor), anchor.values);
}

TEST(LiveBookTest, AveragedValuesAreReplacedAtBoundariesAlone) {
  for (const char* method : {"co2", "late", "dasgd"}) {
    const auto options = *optimizer::OuterPreset(method);
    EXPECT_FALSE(LiveBook::KeepsLive(options, SpanRule::kAverage));
    LiveBook live;
    const SpanState anchor{Sequence(1), Of({5, 6}), 0};
    const TrainerMemory memory = Memory(2);
    const auto merge = [&](At at) {
      LiveChange change{at, false, 1.0f};
      change.rule = SpanRule::kAverage;
      return live.Merge(options, change, 0, anchor, {0, 2}, memory)();
    };
    for (const At at : {At::kBoundary, At::kAnchor}) {
      memory.values[0] = 3;
      EXPECT_EQ(merge(at), nullptr);
      EXPECT_EQ(memory.values[0], 5) << method;
      live.Started(0, anchor, nullptr);
    }
    memory.values[0] = 3;
    EXPECT_EQ(merge(At::kApplyPoint), nullptr);
    EXPECT_EQ(memory.values[0], 3) << method;
  }
}

TEST(LiveBookTest, LocalDeltaIsCarriedOverOnceThereIsARound) {
  const auto options = *optimizer::OuterPreset("late");
  LiveBook live;
  const TrainerMemory memory = Memory(1);
  const auto merge = [&](float share, const SpanState& anchor, At at) {
    return live.Merge(options, {at, false, share}, 0, anchor, {0, 1}, memory)();
  };
  const SpanState first{Sequence(0), Of({1}), 0};
  live.Started(0, first, merge(1.0f, first, At::kBoundary));
  EXPECT_EQ(memory.values[0], 1);
  live.Keep(0, Of({4}));  // the round moved it by 3
  const SpanState second{Sequence(1), Of({10}), 0};
  const Values start = merge(1.0f, second, At::kBoundary);
  EXPECT_EQ(memory.values[0], 13);
  live.Started(0, second, start);
  EXPECT_EQ((*live.StartOf(0, second))[0], 13);
  live.Keep(0, Of({17}));  // and now by 4
  EXPECT_EQ((*merge(0.5f, second, At::kBoundary))[0], 12);
  EXPECT_EQ((*merge(0.5f, second, At::kAnchor))[0], 10);
}

TEST(LiveBookTest, AMixTakesTheRestFromTheAnchorUnlessNothingIsOnItsWay) {
  const auto options = *optimizer::OuterPreset("dasgd");
  LiveBook live;
  const TrainerMemory memory = Memory(1);
  const auto merge = [&](const SpanState& anchor, bool back) {
    Values start = live.Merge(options, {At::kBoundary, back, 1.0f}, 0, anchor,
                              {0, 1}, memory)();
    live.Started(0, anchor, start);
    return (*start)[0];
  };
  const SpanState first{Sequence(0), Of({1}), 0};
  EXPECT_EQ(merge(first, true), 1);
  live.Keep(0, Of({5}));
  EXPECT_EQ(merge(first, false), 2);  // a quarter of 5, three quarters of 1
  EXPECT_EQ(memory.values[0], 2);
  live.Keep(0, Of({10}));
  const SpanState second{Sequence(1), Of({6}), 0};
  EXPECT_EQ(merge(second, false), 7);
  // In a pause a result comes while nothing is trained: a quarter of 10, and
  // three quarters of the anchor.
  const SpanState third{Sequence(2), Of({8}), 0};
  EXPECT_EQ(merge(third, false), 8.5);
  EXPECT_EQ(memory.values[0], 8.5);
  const SpanState fourth{Sequence(3), Of({9}), 0};
  EXPECT_EQ(merge(fourth, true), 9);
  live.Keep(0, Of({12}));
  EXPECT_EQ(merge(fourth, true), 9);
}

// Three rounds of one element: what is on its way moves with the anchor, and
// what came back is the anchor's.
TEST(LiveBookTest, WhatComesBetweenTwoBoundariesMovesStartAndLive) {
  const auto options = *optimizer::OuterPreset("late");
  LiveBook live;
  const TrainerMemory memory = Memory(1);
  const auto change = [&](const SpanState& anchor, At at, bool back) {
    Values start =
        live.Merge(options, {at, back, 0.5f}, 0, anchor, {0, 1}, memory)();
    live.Started(0, anchor, start);
    return (*start)[0];
  };
  const SpanState first{Sequence(0), Of({10}), 0};
  EXPECT_EQ(change(first, At::kBoundary, true), 10);
  live.Keep(0, Of({18}));
  EXPECT_EQ(change(first, At::kBoundary, false), 14);
  // Two steps, then a result without this replica's part.
  memory.values[0] = 16;
  const SpanState second{Sequence(1), Of({13}), 0};
  EXPECT_EQ(change(second, At::kApplyPoint, false), 17);
  EXPECT_EQ(memory.values[0], 19);
  // Another step, then one with it.
  memory.values[0] = 20;
  const SpanState third{Sequence(2), Of({15}), 0};
  EXPECT_EQ(change(third, At::kApplyPoint, true), 15);
  EXPECT_EQ(memory.values[0], 18);
  // At the boundary nothing else is on its way than this round.
  live.Keep(0, Of({19}));
  EXPECT_EQ(change(third, At::kBoundary, false), 17);
  // In a pause results come while nothing is trained.
  memory.values[0] = -1;
  const SpanState fourth{Sequence(3), Of({16}), 0};
  EXPECT_EQ(change(fourth, At::kBoundary, false), 18);
  EXPECT_EQ(memory.values[0], 18);
  const SpanState fifth{Sequence(4), Of({17.5}), 0};
  EXPECT_EQ(change(fifth, At::kBoundary, true), 17.5);
  EXPECT_EQ(memory.values[0], 17.5);
}

// A result that is there before the first step of the next round.
TEST(LiveBookTest, WhatIsBackAtTheBoundaryIsTheAnchor) {
  const auto options = *optimizer::OuterPreset("late");
  LiveBook live;
  const TrainerMemory memory = Memory(1);
  const SpanState first{Sequence(0), Of({0.1f}), 0};
  live.Started(0, first,
               live.Merge(options, {At::kBoundary, true, 0.3f}, 0, first,
                          {0, 1}, memory)());
  live.Keep(0, Of({0.7f}));
  const SpanState second{Sequence(1), Of({0.3f}), 0};
  EXPECT_EQ((*live.Merge(options, {At::kBoundary, true, 0.3f}, 0, second,
                         {0, 1}, memory)())[0],
            0.3f);
}

}  // namespace
}  // namespace skerry::worker
