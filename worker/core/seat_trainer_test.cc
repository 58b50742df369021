#include "gtest/gtest.h"
#include "worker/core/seat.h"
#include "worker/core/testing/world_cases.h"

namespace skerry::worker {
namespace {

using compression::CodecId;

TEST(SeatTrainerTest, TrainerThatDiesEndsTheLifeAndNothingElse) {
  World world(Options({kAll, kHalves}, "co2", CodecId::kInt8Block));
  ASSERT_TRUE(world.RunToSequence(4)) << Failures(world);
  const Life life = world.seat(1)->Facts().life;
  world.FailTrainer(1);
  ASSERT_TRUE(world.RunUntil([&] {
    const JobFacts facts = world.seat(1)->Facts();
    return facts.life.is_set() && facts.life != life;
  })) << Failures(world);
  ASSERT_TRUE(world.RunToSequence(world.newest().value() + 4))
      << Failures(world);
  EXPECT_GT(world.seat(1)->Facts().lost_norm, 0);
}

TEST(SeatTrainerTest, EndOfTheJobEvaluatesTheLastAnchorAndRests) {
  for (const char* method : {"co2", "average_plus_local_delta"}) {
    WorldOptions options =
        Options({kHalves, kAll}, method, CodecId::kInt8Block);
    options.settings.samples = 108;
    World world(options);
    world.AskEvaluation({Sequence(2), 64});
    ASSERT_TRUE(world.RunUntil([&] {
      return !world.committed().empty() &&
             world.committed().back().samples_committed == 108;
    })) << Failures(world);
    world.AskEvaluation({world.newest(), 1024});
    world.AskGeneration({5, "hello", 3, 0, 1});
    world.set_phase(JobPhase::kSucceeded);
    ASSERT_TRUE(world.RunUntil([&] {
      for (uint32_t i = 0; i < 3; ++i) {
        const JobFacts facts = world.seat(i)->Facts();
        if (facts.state != SeatState::kResting) return false;
        if (facts.generated.empty() || facts.evaluations.empty()) return false;
        if (facts.evaluations.back().sequence != world.newest()) return false;
      }
      return true;
    })) << method
        << Failures(world);
    EXPECT_EQ(world.seat(0)->Facts().generated.front().text, "hello!");
    EXPECT_EQ(world.seat(0)->Facts().evaluations.back().loss,
              world.seat(2)->Facts().evaluations.back().loss);
    EXPECT_FALSE(world.seat(0)->Facts().bases.empty());
    EXPECT_EQ(world.seat(0)->Facts().bases.back().sequence, world.newest());
  }
}

// There is nothing left to train, and the job waits for somebody to evaluate
// what came out: that may be a life that never ran a round.
TEST(SeatTrainerTest, ALifeThatBeginsAfterTheLastSampleEvaluates) {
  for (const char* method : {"co2", "average_plus_local_delta"}) {
    WorldOptions options = Options({kHalves, kAll}, method, CodecId::kRawF32);
    options.settings.samples = 108;
    World world(options);
    ASSERT_TRUE(world.RunUntil([&] {
      return !world.committed().empty() &&
             world.committed().back().samples_committed == 108;
    })) << Failures(world);
    for (uint32_t i = 0; i < 2; ++i) {
      world.Kill(i);
      world.Start(i, /*with_disk=*/true);
    }
    world.AskEvaluation({world.newest(), 1024});
    EXPECT_TRUE(world.RunUntil(
        [&] {
          for (uint32_t i = 0; i < 2; ++i) {
            const JobFacts facts = world.seat(i)->Facts();
            if (facts.evaluations.empty()) return false;
          }
          return true;
        },
        40000))
        << method << Failures(world);
  }
}

}  // namespace
}  // namespace skerry::worker
