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
    EXPECT_FALSE(world.seat(0)->Facts().fragments[0].bases.empty());
    EXPECT_EQ(world.seat(0)->Facts().fragments[0].bases.back().sequence,
              world.newest());
  }
}

// The last cut may be on its way to a rank that hears of the job's end first:
// what its head then loads must not meet what this rank loads to rest.
TEST(SeatTrainerTest, AtTheEndTheRanksOfAReplicaLoadTheSame) {
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
    world.AskEvaluation({world.newest(), 1024});
    world.set_phase(JobPhase::kSucceeded);
    const auto is_done = [&](uint32_t worker) {
      const JobFacts facts = world.seat(worker)->Facts();
      return facts.state == SeatState::kResting && !facts.evaluations.empty() &&
             facts.evaluations.back().sequence == world.newest();
    };
    ASSERT_TRUE(world.RunUntil([&] {
      return is_done(0) && is_done(1) && is_done(2);
    })) << "seed "
        << seed << Failures(world);
    const double loss = world.seat(2)->Facts().evaluations.back().loss;
    for (const uint32_t worker : {0u, 1u}) {
      EXPECT_EQ(world.seat(worker)->Facts().evaluations.back().loss, loss)
          << "seed " << seed;
    }
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
  orders.settings = world.settings;
  orders.phase = JobPhase::kRunning;
  orders.holders = {{1, 3, {"w0", "w0", "w0"}}};
  seat.OnOrders(Instant(), Revision(1), orders);
  ASSERT_EQ(trainer.asked.size(), 1u);
  orders.holders = {{0, 3, {"w0", "w0", "w0"}}};
  seat.OnOrders(Instant(), Revision(2), orders);
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
