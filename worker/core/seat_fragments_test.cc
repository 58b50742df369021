// A seat whose model is exchanged in several fragments.
#include <vector>

#include "gtest/gtest.h"
#include "worker/core/testing/world_cases.h"
#include "worker/core/testing/world_ports.h"

namespace skerry::worker {
namespace {

using compression::CodecId;

// Three fragments of three spans; a round is one inner step.
WorldOptions Fragmented(std::vector<Spans> replicas, const char* method,
                        CodecId codec, uint32_t fragments = 3) {
  WorldOptions options = Options(std::move(replicas), method, codec);
  options.settings.fragments = fragments;
  options.settings.tau = 2 * fragments;
  options.element_count = 3 * fragments * 4096 + 100;
  return options;
}

TEST(SeatFragmentsTest, EveryFragmentIsConserved) {
  for (const char* method : {"local_sgd", "diloco", "co2"}) {
    WorldOptions options =
        Fragmented({kAll, kHalves}, method, CodecId::kInt8Block);
    options.loss = 0.05;
    options.repeat = 0.05;
    World world(options);
    ASSERT_TRUE(world.RunToSequence(6)) << method << "\n" << Failures(world);
    ExpectConserved(world, 3);
  }
}

TEST(SeatFragmentsTest, FragmentsTakeTurns) {
  World world(Fragmented({kAll, kAll}, "diloco", CodecId::kRawF32));
  ASSERT_TRUE(world.RunToSequence(5)) << Failures(world);
  for (uint32_t f = 0; f < 3; ++f) {
    // Nobody is more than one turn ahead.
    EXPECT_LE(world.newest(f).value(), 6u);
    // Each covers a turn of all three: six steps of two samples, twice.
    const CommittedEntry& entry = world.committed(f)[3];
    EXPECT_EQ(entry.total_weight, 24) << f;
  }
}

TEST(SeatFragmentsTest, ABoundaryLoadsItsFragmentAndLeavesTheOthers) {
  World world(Fragmented({kAll}, "diloco", CodecId::kRawF32, 2));
  ASSERT_TRUE(world.RunToSequence(4)) << Failures(world);
  const std::vector<ElementRange>& loads = world.worker(0).loads;
  // A life begins with both, then each has its turn.
  ASSERT_GE(loads.size(), 6u);
  EXPECT_EQ(loads[0], world.ElementsOf(0));
  EXPECT_EQ(loads[1], world.ElementsOf(1));
  for (size_t i = 2; i < loads.size(); ++i) {
    EXPECT_EQ(loads[i], world.ElementsOf(i % 2)) << i;
  }
}

// What it has learnt in each is measured from that one's own start.
TEST(SeatFragmentsTest, AloneItGoesOnFromWhereItWasInEveryFragment) {
  World world(Fragmented({kAll}, "local_sgd", CodecId::kRawF32, 2));
  ASSERT_TRUE(world.RunToSequence(4)) << Failures(world);
  const std::vector<float>& moves = world.worker(0).moves;
  ASSERT_GE(moves.size(), 6u);
  for (size_t i = 2; i < moves.size(); ++i) EXPECT_LT(moves[i], 1e-5) << i;
}

TEST(SeatFragmentsTest, AWorkerThatIsKilledComesBackToEveryFragment) {
  World world(Fragmented({kAll, kAll}, "diloco", CodecId::kInt8Block, 2));
  ASSERT_TRUE(world.RunToSequence(3)) << Failures(world);
  world.Kill(1);
  ASSERT_TRUE(world.RunToSequence(6)) << Failures(world);
  world.Start(1, true);
  ASSERT_TRUE(world.RunToSequence(12)) << Failures(world);
}

TEST(SeatFragmentsTest, AtTheEndEveryFragmentDeliversWhatItHas) {
  for (const char* method : {"diloco", "co2"}) {
    World world(Fragmented({kAll, kHalves}, method, CodecId::kRawF32, 3));
    ASSERT_TRUE(world.RunToSequence(2)) << Failures(world);
    world.set_nothing_left(true);
    ASSERT_TRUE(world.RunUntil([&] {
      for (uint32_t f = 1; f < 3; ++f) {
        if (world.committed(f).back().samples_committed !=
            world.committed(0).back().samples_committed) {
          return false;
        }
      }
      for (uint32_t i = 0; i < 3; ++i) {
        const JobFacts facts = world.seat(i)->Facts();
        for (uint32_t f = 0; f < 3; ++f) {
          if (facts.fragments[f].ready ||
              facts.fragments[f].applied != world.newest(f)) {
            return false;
          }
        }
      }
      return true;
    })) << method
        << "\n"
        << Failures(world);
    uint64_t state = 0;
    for (uint32_t f = 0; f < 3; ++f) state += world.newest(f).value();
    world.AskEvaluation({Sequence(state), 64});
    EXPECT_TRUE(world.RunUntil([&] {
      const JobFacts facts = world.seat(0)->Facts();
      return !facts.evaluations.empty() &&
             facts.evaluations.back().sequence == Sequence(state);
    })) << method
        << Failures(world);
  }
}

TEST(SeatFragmentsTest, FilesOfFragmentsAreToldApart) {
  World world(Fragmented({kAll, kAll}, "diloco", CodecId::kRawF32, 2));
  ASSERT_TRUE(world.RunToSequence(2)) << Failures(world);
  const JobFacts facts = world.seat(0)->Facts();
  for (uint32_t f = 0; f < 2; ++f) {
    ASSERT_FALSE(facts.fragments[f].bases.empty());
    const protocol::HeldBase& base = facts.fragments[f].bases.back();
    PieceKey key{
        PieceKey::Kind::kBase, base.sequence, Attempt(), 0, base.hashes[0], f};
    EXPECT_TRUE(world.seat(0)->OnFetch(key).ok());
    key.fragment = 1 - f;
    EXPECT_TRUE(absl::IsNotFound(world.seat(0)->OnFetch(key).status()));
    key.fragment = 2;
    EXPECT_TRUE(absl::IsNotFound(world.seat(0)->OnFetch(key).status()));
  }
}

}  // namespace
}  // namespace skerry::worker
