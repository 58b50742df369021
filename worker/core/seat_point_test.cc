// Results that are applied between two inner steps (PROTOCOL 4.6).
#include <map>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "worker/core/seat.h"
#include "worker/core/testing/world_cases.h"

namespace skerry::worker {
namespace {

using compression::CodecId;
using protocol::Contribution;
using protocol::FragmentFacts;

WorldOptions Late(std::vector<Spans> replicas, uint32_t points, double share,
                  uint64_t seed) {
  WorldOptions options =
      Options(std::move(replicas), "late", CodecId::kRawF32, seed);
  options.settings.outer.undelayed_rounds_fraction = 0;
  options.settings.outer.apply_points = points;
  options.own_share = share;
  return options;
}

// What worker 0 has offered until so many results are applied, by round.
std::map<Round, Contribution> Offers(World& world, uint64_t sequence) {
  std::map<Round, Contribution> offers;
  EXPECT_TRUE(world.RunUntil([&] {
    const FragmentFacts facts = world.seat(0)->Facts().fragments[0];
    if (facts.ready) offers[facts.ready->round] = *facts.ready;
    return facts.applied >= Sequence(sequence);
  })) << Failures(world);
  return offers;
}

// The oracle is docs/outer_loop.md's rule, with the lateness that the
// contributions name: live = b + progress, where b = a - s d while d is on its
// way and b = a otherwise.
TEST(SeatPointTest, AResultIsAppliedAtTheFirstPointAfterItCame) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const double share = seed % 2 == 0 ? 0.5 : 1.0;
    World world(Late({kAll}, 3, share, seed));
    const auto offers = Offers(world, 7);
    const uint64_t applied =
        world.seat(0)->Facts().fragments[0].applied.value();
    const size_t size = world.options().element_count;
    std::vector<float> begin(size);
    for (size_t i = 0; i < size; ++i) begin[i] = World::InitialValue(i);
    std::vector<float> folded = begin;
    std::vector<float> anchor = begin, base = begin, live = begin;
    std::vector<float> delta(size);
    uint64_t results = 0, contributions = 0;
    const auto fold = [&] {
      for (size_t i = 0; i < size; ++i) anchor[i] -= delta[i];
      if (++results == applied) folded = anchor;
    };
    for (const auto& [round, offer] : offers) {
      data::RangeSet left = offer.ranges;
      const auto late = static_cast<uint64_t>(offer.scalars.late_steps);
      if (contributions > 0) seen.insert(late);
      bool apart = contributions++ > 0;
      for (uint64_t step = 0; !left.empty(); ++step) {
        if (apart && step == late) {
          fold();
          for (size_t i = 0; i < size; ++i) live[i] += anchor[i] - base[i];
          base = anchor;
          apart = false;
        }
        world.Train(0, left.TakeFirst(2), 2, live);
      }
      std::vector<float> made(size);
      for (size_t i = 0; i < size; ++i) made[i] = base[i] - live[i];
      if (apart) fold();
      delta = made;
      const auto kept = static_cast<float>(results == 0 ? 1.0 : share);
      for (size_t i = 0; i < size; ++i) base[i] = anchor[i] - kept * delta[i];
      live = base;
    }
    if (results < applied) fold();
    ASSERT_EQ(results, applied);
    const Values first = world.seat(0)->AnchorOf(0);
    for (size_t i = 0; i < 3000; ++i) {
      ASSERT_NEAR((*first)[i], folded[i], 2e-5) << "seed " << seed;
    }
  }
  // Inside rounds, and not only where they end.
  EXPECT_TRUE(seen.contains(1) || seen.contains(2));
}

TEST(SeatPointTest, WithOnePointAResultWaitsForTheBoundary) {
  World world(Late({kAll, kAll}, 1, 0.5, 3));
  uint64_t offers = 0;
  for (const auto& [round, offer] : Offers(world, 6)) {
    if (++offers == 1) continue;
    EXPECT_GE(offer.scalars.late_steps, 3) << round.value();
  }
  EXPECT_GE(offers, 6u);
}

TEST(SeatPointTest, AllWorkersOfAReplicaStopAtTheSamePoints) {
  for (const uint64_t seed : {1, 2, 3, 4}) {
    World world(Late({kHalves, kAll, kHalves}, 3, 0.5, seed));
    bool inside = false;
    ASSERT_TRUE(world.RunUntil([&] {
      const FragmentFacts facts = world.seat(0)->Facts().fragments[0];
      const double late = facts.ready ? facts.ready->scalars.late_steps : 0;
      inside |= late > 0 && late < 3;
      return facts.applied >= Sequence(10);
    })) << Failures(world);
    EXPECT_TRUE(inside);
    ExpectConserved(world, 5);
  }
}

TEST(SeatPointTest, EveryFragmentIsAppliedAtAPoint) {
  WorldOptions options = Late({kHalves, kAll}, 3, 0.5, 2);
  options.settings.fragments = 2;
  options.settings.tau = 6;
  options.element_count = 3 * 2 * 4096 + 100;
  World world(options);
  std::set<uint32_t> inside;
  ASSERT_TRUE(world.RunUntil([&] {
    for (uint32_t f = 0; f < 2; ++f) {
      const FragmentFacts facts = world.seat(0)->Facts().fragments[f];
      const double late = facts.ready ? facts.ready->scalars.late_steps : 0;
      if (late > 0 && late < 6) inside.insert(f);
    }
    return world.newest(0).value() >= 8 && world.newest(1).value() >= 8;
  })) << Failures(world);
  EXPECT_EQ(inside.size(), 2u);
  ExpectConserved(world, 3);
}

// What a result brings in a pause is in the live values when it ends.
TEST(SeatPointTest, APauseDeliversTheRoundAndTheLifeGoesOn) {
  World world(Late({kHalves}, 3, 0.5, 5));
  ASSERT_TRUE(world.RunToSequence(4)) << Failures(world);
  const Life life = world.seat(0)->Facts().life;
  world.set_job_paused(true);
  world.Settle();
  const Sequence held = world.newest();
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_FALSE(world.seat(i)->Facts().fragments[0].ready.has_value());
    EXPECT_EQ(world.seat(i)->Facts().fragments[0].applied, held);
  }
  world.set_job_paused(false);
  ASSERT_TRUE(world.RunToSequence(held.value() + 4)) << Failures(world);
  EXPECT_EQ(world.seat(0)->Facts().life, life);
  ExpectConserved(world, 2);
}

TEST(SeatPointTest, ADrainingWorkerEndsItsRoundAndLeaves) {
  World world(Late({kAll, kAll}, 3, 0.5, 6));
  ASSERT_TRUE(world.RunToSequence(3)) << Failures(world);
  world.seat(0)->Drain(world.now());
  ASSERT_TRUE(world.RunUntil([&] {
    return world.seat(0)->Facts().abandoned_life != Life();
  })) << Failures(world);
  ExpectConserved(world, 2);
}

}  // namespace
}  // namespace skerry::worker
