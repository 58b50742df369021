#include <vector>

#include "gtest/gtest.h"
#include "worker/core/seat.h"
#include "worker/core/testing/world_cases.h"

namespace skerry::worker {
namespace {

using compression::CodecId;

TEST(SeatRoundTest, OneReplicaUnderLocalSgdIsPlainTraining) {
  World world(Options({kAll}, "local_sgd", CodecId::kRawF32));
  ASSERT_TRUE(world.RunToSequence(5)) << Failures(world);
  std::vector<float> live(world.options().element_count);
  for (size_t i = 0; i < live.size(); ++i) live[i] = World::InitialValue(i);
  for (uint64_t round = 0; round < 5; ++round) {
    world.Train(0, data::RangeSet(data::SampleRange{6 * round, 6 * round + 6}),
                2, live);
  }
  const Sequence applied = world.seat(0)->Facts().fragments[0].applied;
  ASSERT_EQ(applied, Sequence(5));
  const Values first = world.seat(0)->AnchorOf(0);
  for (size_t i = 0; i < 4096; ++i) EXPECT_NEAR((*first)[i], live[i], 1e-5);
}

// The oracle is docs/outer_loop.md's late merge: b = a - share * d, where d is
// on its way. Before the first result nothing is measured, and the share is 1.
TEST(SeatRoundTest, ALateRoundStartsWithTheShareThatTheNewestResultMeasured) {
  for (const double share : {0.5, 1.0}) {
    WorldOptions options = Options({kAll}, "late", CodecId::kRawF32);
    options.settings.outer.undelayed_rounds_fraction = 0;
    options.settings.outer.apply_points = 1;
    options.own_share = share;
    World world(options);
    constexpr uint64_t kSequences = 5;
    ASSERT_TRUE(world.RunToSequence(kSequences)) << Failures(world);
    ASSERT_EQ(world.seat(0)->Facts().fragments[0].applied,
              Sequence(kSequences));
    std::vector<float> anchor(world.options().element_count);
    for (size_t i = 0; i < anchor.size(); ++i) {
      anchor[i] = World::InitialValue(i);
    }
    std::vector<float> begin = anchor;
    std::vector<float> delta(anchor.size());
    for (uint64_t round = 0; round <= kSequences; ++round) {
      std::vector<float> live = begin;
      const float kept = static_cast<float>(round == 0 ? 1.0 : share);
      world.Train(0,
                  data::RangeSet(data::SampleRange{6 * round, 6 * round + 6}),
                  2, live);
      for (size_t i = 0; i < live.size(); ++i) {
        anchor[i] -= delta[i];
        delta[i] = begin[i] - live[i];
        begin[i] = anchor[i] - kept * delta[i];
      }
    }
    const Values first = world.seat(0)->AnchorOf(0);
    for (size_t i = 0; i < 4096; ++i) {
      ASSERT_NEAR((*first)[i], anchor[i], 1e-5) << share;
    }
  }
}

TEST(SeatRoundTest, AReplicaOfTwoWorkersRunsItsRoundsAtOneCut) {
  for (const char* method :
       {"local_sgd", "co2", "average_plus_local_delta", "late", "dasgd"}) {
    World world(Options({kHalves, kAll, kHalves}, method, CodecId::kInt8Block));
    ASSERT_TRUE(world.RunToSequence(8)) << method << "\n" << Failures(world);
    ExpectConserved(world, 5);
  }
}

// The rest of the job goes to others, and nobody waits for a lease to end.
TEST(SeatRoundTest, ADrainingWorkerLeavesOnceWhatItOwesIsDelivered) {
  World world(Options({kAll, kAll}, "co2", CodecId::kRawF32));
  ASSERT_TRUE(world.RunToSequence(3)) << Failures(world);
  world.seat(0)->Drain(world.now());
  ASSERT_TRUE(world.RunUntil([&] {
    return world.seat(0)->Facts().abandoned_life != Life();
  })) << Failures(world);
}

// It may be the last one that has it.
TEST(SeatRoundTest, TheNewestStateOfADrainedWorkerIsABase) {
  for (const uint64_t sequence : {3, 4, 5}) {
    World world(Options({kAll, kAll}, "diloco", CodecId::kInt8Block));
    ASSERT_TRUE(world.RunToSequence(sequence)) << Failures(world);
    for (uint32_t i = 0; i < 2; ++i) world.seat(i)->Drain(world.now());
    ASSERT_TRUE(world.RunUntil([&] {
      const JobFacts facts = world.seat(0)->Facts();
      return facts.abandoned_life != Life() &&
             !facts.fragments[0].bases.empty() &&
             facts.fragments[0].applied == world.newest() &&
             facts.fragments[0].bases.back().sequence ==
                 facts.fragments[0].applied;
    })) << Failures(world);
  }
}

TEST(SeatRoundTest, AWorkerThatIsNoLongerToDrainComesBack) {
  World world(Options({kAll, kAll}, "co2", CodecId::kRawF32));
  ASSERT_TRUE(world.RunToSequence(3)) << Failures(world);
  const Life before = world.seat(0)->Facts().life;
  world.seat(0)->Drain(world.now());
  ASSERT_TRUE(world.RunUntil([&] {
    return world.seat(0)->Facts().abandoned_life == before;
  })) << Failures(world);
  world.seat(0)->Serve(world.now());
  ASSERT_TRUE(world.RunToSequence(world.newest().value() + 4))
      << Failures(world);
  EXPECT_GT(world.seat(0)->Facts().life, before);
}

// Nothing of its life is given up: not the lease, not what is owed.
TEST(SeatRoundTest, APausedJobDeliversItsRoundAndGoesOnInTheSameLife) {
  for (const char* method : {"local_sgd", "co2", "late", "dasgd"}) {
    World world(Options({kHalves}, method, CodecId::kInt8Block));
    ASSERT_TRUE(world.RunToSequence(4)) << Failures(world);
    const Life life = world.seat(0)->Facts().life;
    world.set_job_paused(true);
    world.Settle();
    const Sequence held = world.newest();
    const double stalled = world.seat(0)->Facts().counters.stall_s;
    world.Settle();
    EXPECT_EQ(world.newest(), held) << method;
    for (uint32_t i = 0; i < 2; ++i) {
      EXPECT_FALSE(world.seat(i)->Facts().fragments[0].ready.has_value())
          << method;
      EXPECT_EQ(world.seat(i)->Facts().fragments[0].applied, held) << method;
      EXPECT_EQ(world.seat(i)->Facts().state, protocol::SeatState::kActive);
    }
    EXPECT_EQ(world.seat(0)->Facts().counters.stall_s, stalled);
    world.set_job_paused(false);
    ASSERT_TRUE(world.RunToSequence(held.value() + 4)) << Failures(world);
    EXPECT_EQ(world.seat(0)->Facts().life, life);
    ExpectConserved(world, 2);
  }
}

// The recursion of the delayed loop in float64, replica by replica.
TEST(SeatRoundTest, Co2FollowsItsRecursion) {
  WorldOptions options = Options({kAll, kAll}, "co2", CodecId::kRawF32);
  options.noise = 0;
  options.settings.outer.undelayed_rounds_fraction = 0;
  options.settings.outer.clip.reset();
  options.settings.samples = 60;
  World world(options);
  ASSERT_TRUE(world.RunToSequence(5)) << Failures(world);
  const auto& outer = options.settings.outer;
  for (const size_t element : {0u, 77u, 4000u}) {
    const double start = World::InitialValue(element);
    double anchor = start;
    double momentum = 0;
    std::vector<double> pending;  // of the round before
    std::vector<double> live(2, start);
    for (uint64_t round = 0; round < 6; ++round) {
      std::vector<double> delta(2);
      for (uint32_t r = 0; r < 2; ++r) {
        double value = live[r];
        for (int step = 0; step < 3; ++step) {
          value -= options.inner_rate * (value - world.Target(r, element));
        }
        delta[r] = anchor - value;
      }
      if (!pending.empty()) {
        const double d = (pending[0] + pending[1]) / 2 / outer.penalty;
        momentum = outer.momentum * momentum + d;
        anchor -= outer.learning_rate *
                  (outer.nesterov ? d + outer.momentum * momentum : momentum);
      }
      pending = delta;
      live.assign(2, anchor);
    }
    // Five results are folded.
    EXPECT_NEAR((*world.seat(0)->AnchorOf(0))[element], anchor, 1e-4);
  }
}

}  // namespace
}  // namespace skerry::worker
