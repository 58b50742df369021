#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "worker/core/seat.h"
#include "worker/core/testing/recovery_fixture.h"
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
  EXPECT_GT(world.seat(1)->Facts().fragments[0].lost_norm, 0);
}

TEST(SeatTrainerTest, EndOfTheJobEvaluatesTheLastAnchorAndRests) {
  for (const char* method :
       {"co2", "average_plus_local_delta", "late", "dasgd"}) {
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
    ASSERT_TRUE(world.RunUntil([&] {
      for (uint32_t i = 0; i < 3; ++i) {
        const JobFacts facts = world.seat(i)->Facts();
        if (facts.evaluations.empty()) return false;
        if (facts.evaluations.back().sequence != world.newest()) return false;
      }
      return true;
    })) << method
        << Failures(world);
    EXPECT_EQ(world.seat(0)->Facts().evaluations.back().loss,
              world.seat(2)->Facts().evaluations.back().loss);
    world.AskGeneration({5, "hello", 3, 0, 1});
    world.set_phase(JobPhase::kSucceeded);
    ASSERT_TRUE(world.RunUntil([&] {
      for (uint32_t i = 0; i < 3; ++i) {
        if (world.seat(i)->Facts().generated.empty()) return false;
        if (!world.seat(i)->IsAtRest()) return false;
      }
      return true;
    })) << method
        << Failures(world);
    EXPECT_EQ(world.seat(2)->Facts().generated.front().text, "hello!");
    EXPECT_EQ(world.seat(0)->Facts().fragments[0].bases.back().sequence,
              world.newest());
  }
}

// The trainers of a replica load together, and end with the job: whatever a
// rank is at when it hears of the end, it comes to the last state alone.
TEST(SeatTrainerTest, TheRanksOfAReplicaRestWithoutEachOther) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    WorldOptions options =
        Options({kHalves, kAll}, "co2", CodecId::kInt8Block, seed);
    options.settings.samples = 108;
    World world(options);
    ASSERT_TRUE(world.RunUntil([&] {
      return !world.committed().empty() &&
             world.committed().back().samples_committed == 108;
    })) << Failures(world);
    world.RunUntil([] { return false; }, static_cast<int>(4 * seed));
    world.set_phase(JobPhase::kSucceeded);
    for (const uint32_t worker : {1u, 0u, 2u}) {
      Seat& seat = *world.seat(worker);
      ASSERT_TRUE(world.RunUntil([&] { return !seat.WantsTrainer(); }));
      seat.OnTrainerEnded(world.now());
    }
    ASSERT_TRUE(world.RunUntil([&] {
      return world.seat(0)->IsAtRest() && world.seat(1)->IsAtRest() &&
             world.seat(2)->IsAtRest();
    })) << "seed "
        << seed << Failures(world);
    for (const uint32_t worker : {0u, 1u, 2u}) {
      EXPECT_EQ(world.seat(worker)->Facts().fragments[0].applied,
                world.newest());
    }
  }
}

TEST(SeatTrainerTest, AJobThatHasEndedWantsATrainerOnlyForText) {
  const WorldOptions options =
      Options({kAll, kAll}, "co2", CodecId::kInt8Block);
  World world(options);
  ASSERT_TRUE(world.RunToSequence(4)) << Failures(world);
  Seat& seat = *world.seat(0);
  EXPECT_TRUE(seat.WantsTrainer());
  world.set_phase(JobPhase::kCancelled);
  ASSERT_TRUE(world.RunUntil([&] { return !seat.WantsTrainer(); }));
  seat.OnTrainerEnded(world.now());
  ASSERT_TRUE(world.RunUntil([&] { return seat.IsAtRest(); }))
      << Failures(world);
  EXPECT_EQ(seat.Facts().state, protocol::SeatState::kResting);
  EXPECT_EQ(seat.Facts().fragments[0].applied, world.newest());
  EXPECT_EQ(seat.Facts().fragments[0].bases.back().sequence, world.newest());

  world.AskGeneration({5, "hello", 3, 0, 1});
  ASSERT_TRUE(world.RunUntil([&] { return seat.WantsTrainer(); }));
  seat.OnTrainerReady(world.now(), {options.element_count, 1000000, 1.0});
  ASSERT_TRUE(world.RunUntil([&] { return !seat.Facts().generated.empty(); }));
  EXPECT_EQ(seat.Facts().generated.front().text, "hello!");
  EXPECT_FALSE(seat.WantsTrainer());
  seat.OnTrainerEnded(world.now());

  // Whoever asked hears why there is no answer, and no other trainer is tried.
  world.AskGeneration({6, "again", 3, 0, 1});
  ASSERT_TRUE(world.RunUntil([&] { return seat.WantsTrainer(); }));
  seat.OnTrainerFailed(world.now(), "its data have moved");
  EXPECT_EQ(seat.Facts().generated.back().error, "its data have moved");
  EXPECT_FALSE(seat.WantsTrainer());
  EXPECT_TRUE(seat.IsAtRest());
}

// There is nothing left to train, and the job waits for somebody to evaluate
// what came out: that may be a life that never ran a round.
TEST(SeatTrainerTest, ALifeThatBeginsAfterTheLastSampleEvaluates) {
  for (const char* method :
       {"co2", "average_plus_local_delta", "late", "dasgd"}) {
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

struct SlowTrainer final : NoTrainer {
  void Snapshot(const ElementRange& range, Done<absl::Status> done) override {
    asked.push_back(range);
    answers.push_back(std::move(done));
  }
  TrainerMemory memory() override { return {shared, *shared}; }
  // Brings what was asked for first into shared memory.
  void Answer() {
    const ElementRange range = asked[answered];
    std::fill(shared->begin() + range.begin, shared->begin() + range.end, 7.0f);
    std::move(answers[answered++])(Instant(), absl::OkStatus());
  }

  std::shared_ptr<std::vector<float>> shared;
  std::vector<ElementRange> asked;
  std::vector<Done<absl::Status>> answers;
  size_t answered = 0;
};

// What the trainer has brought covers the spans that were held when it was
// asked; the memory of others says nothing.
TEST(SeatTrainerTest, InitialValuesAreAskedForAgainWhenTheSpansHaveChanged) {
  const WorldOptions world = Options({kAll}, "local_sgd", CodecId::kRawF32);
  SlowTrainer trainer;
  trainer.shared = std::make_shared<std::vector<float>>(world.element_count);
  FakePorts ports;
  NoPeers peers;
  SeatOptions options;
  options.job = JobId(7);
  options.worker = "w0";
  Seat seat(std::move(options), {trainer, ports, ports, peers, ports});
  seat.OnTrainerReady(Instant(), {world.element_count, 1000, 1.0});
  JobOrders orders;
  orders.job = JobId(7);
  orders.phase = JobPhase::kRunning;
  orders.holders = {{1, 3, {"w0", "w0", "w0"}}};
  seat.OnOrders(Instant(), Revision(1), orders, world.settings);
  ASSERT_EQ(trainer.asked.size(), 1u);
  orders.holders = {{0, 3, {"w0", "w0", "w0"}}};
  seat.OnOrders(Instant(), Revision(2), orders, world.settings);
  trainer.Answer();
  ASSERT_EQ(trainer.asked.size(), 2u);
  EXPECT_EQ(trainer.asked[1].begin, 0u);
  trainer.Answer();
  ports.Run();
  ASSERT_NE(seat.AnchorOf(0), nullptr);
  EXPECT_EQ(seat.AnchorOf(0)->front(), 7.0f);
}

}  // namespace
}  // namespace skerry::worker
