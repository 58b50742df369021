#include "worker/core/seat.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "worker/core/testing/world_cases.h"

namespace skerry::worker {
namespace {

using protocol::SeatState;

using compression::CodecId;

TEST(SeatTest, JoinersByDiskOrByFetchEqualTheOthers) {
  for (const bool with_disk : {true, false}) {
    World world(Options({kAll, kHalves}, "diloco", CodecId::kInt8Block));
    ASSERT_TRUE(world.RunToSequence(9)) << Failures(world);
    world.Kill(2);
    world.Reopen({1});
    ASSERT_TRUE(world.RunUntil([&] { return world.newest().value() >= 14; }))
        << Failures(world);
    world.Start(2, with_disk);
    world.replica(1).excluded = false;
    ASSERT_TRUE(world.RunToSequence(world.newest().value() + 6))
        << Failures(world);
    EXPECT_EQ(world.seat(2)->Facts().state, SeatState::kActive);
  }
}

// Only workers without a life are offered bases, so it would never come up.
TEST(SeatTest, ALifeForWhichNoStateIsThereIsDeclined) {
  World world(Options({kAll, kAll}, "diloco", CodecId::kRawF32));
  ASSERT_TRUE(world.RunToSequence(5)) << Failures(world);
  world.Kill(1);
  world.Reopen({1});
  world.replica(1).dormant = true;
  world.replica(1).life = Life(1000000);
  world.Start(1, /*with_disk=*/false);
  ASSERT_TRUE(world.RunUntil(
      [&] {
        const Seat* seat = world.seat(1);
        EXPECT_FALSE(seat->Facts().life.is_set());
        return seat->Facts().abandoned_life == Life(1000000);
      },
      4000))
      << Failures(world);
}

// A coordinator whose journal is an older copy tells of lives that it ended
// later.
TEST(SeatTest, ALifeThatIsOverIsGivenBack) {
  World world(Options({kAll, kAll}, "diloco", CodecId::kRawF32));
  ASSERT_TRUE(world.RunToSequence(3)) << Failures(world);
  const Life older = world.replica(1).life;
  world.replica(1).dormant = true;
  world.replica(1).life = Life();
  ASSERT_TRUE(world.RunUntil([&] {
    return !world.seat(1)->Facts().life.is_set();
  })) << Failures(world);
  EXPECT_EQ(world.seat(1)->Facts().abandoned_life, Life());
  world.replica(1).life = older;
  ASSERT_TRUE(world.RunUntil([&] {
    return world.seat(1)->Facts().abandoned_life == older;
  })) << Failures(world);
  EXPECT_FALSE(world.seat(1)->Facts().life.is_set());
}

TEST(SeatTest, AFullDiskCostsTheLifeAndIsAskedAgain) {
  World world(Options({kAll, kHalves}, "co2", CodecId::kInt8Block));
  ASSERT_TRUE(world.RunToSequence(4)) << Failures(world);
  const Life life = world.seat(2)->Facts().life;
  world.SetDiskFull(2, true);
  ASSERT_TRUE(world.RunUntil([&] {
    return !world.seat(2)->Facts().error.empty();
  })) << Failures(world);
  EXPECT_EQ(world.seat(2)->Facts().error, "disk: full; tried again every 50ms");
  EXPECT_EQ(world.seat(2)->Facts().state, SeatState::kStarting);
  EXPECT_EQ(world.seat(2)->Facts().abandoned_life, life);
  // The others go on, and it stays as it is.
  ASSERT_TRUE(world.RunUntil([&] { return world.newest().value() >= 10; }))
      << Failures(world);
  EXPECT_EQ(world.seat(2)->Facts().state, SeatState::kStarting);
  world.SetDiskFull(2, false);
  ASSERT_TRUE(world.RunToSequence(world.newest().value() + 4))
      << Failures(world);
  EXPECT_EQ(world.seat(2)->Facts().error, "");
  EXPECT_GT(world.seat(2)->Facts().life, life);
}

std::string Describe(World& world) {
  std::string out;
  for (uint32_t i = 0; i < world.worker_count(); ++i) {
    if (world.seat(i) == nullptr) continue;
    const JobFacts facts = world.seat(i)->Facts();
    absl::StrAppend(&out, "\nw", i, ": life ", facts.life.value(), " applied ",
                    facts.fragments[0].applied.value(), " through ",
                    facts.fragments[0].stored_through.value(), " held ",
                    facts.fragments[0].anchor_hashes.size(), "\n  ",
                    absl::StrJoin(world.LastEvents(i), "\n  "));
  }
  return out;
}

// Whether no committed result is lost when a worker of `replica` loses its
// disk.
bool OthersHoldAll(World& world, uint32_t replica) {
  for (uint32_t r = 0; r < world.replica_count(); ++r) {
    if (r == replica) continue;
    bool all = true;
    for (const uint32_t index : world.replica(r).workers) {
      const Seat* seat = world.seat(index);
      all = all && seat != nullptr && world.newest().is_set() &&
            seat->Facts().fragments[0].stored_through == world.newest();
    }
    if (all) return true;
  }
  return false;
}

// A random history of kills, starts, dead trainers and replaced attempts.
std::string RunHistory(uint64_t seed) {
  Random random(seed);
  const char* const methods[] = {"local_sgd", "diloco",
                                 "co2",       "average_plus_local_delta",
                                 "late",      "dasgd"};
  const CodecId codecs[] = {CodecId::kRawF32, CodecId::kBf16,
                            CodecId::kInt8Block};
  // Compilers differ in the order in which they evaluate arguments.
  const char* const method = methods[random.Below(6)];
  const CodecId codec = codecs[random.Below(3)];
  WorldOptions options = Options({kAll, kHalves, kAll}, method, codec, seed);
  options.loss = 0.1;
  options.repeat = 0.2;
  if (random.Below(3) == 0) {
    options.replicas.pop_back();
    options.hops = Hops::kOne;
  }
  World world(options);
  const auto replicas = static_cast<uint32_t>(options.replicas.size());
  for (int fault = 0; fault < 5; ++fault) {
    world.RunUntil(
        [&, left = random.Below(3000)]() mutable { return left-- == 0; });
    const auto replica = static_cast<uint32_t>(random.Below(replicas));
    const auto& workers = world.replica(replica).workers;
    const uint32_t worker = workers[random.Below(workers.size())];
    switch (random.Below(3)) {
      case 0:
        world.Kill(worker);
        world.Reopen({replica});
        world.RunUntil(
            [&, left = random.Below(2000)]() mutable { return left-- == 0; });
        world.Start(worker,
                    random.Below(2) == 0 || !OthersHoldAll(world, replica));
        break;
      case 1:
        world.FailTrainer(worker);
        break;
      case 2:
        world.Reopen({replica});
        break;
    }
    world.RunUntil([&, left = 500]() mutable { return left-- == 0; });
    for (uint32_t r = 0; r < replicas; ++r) world.replica(r).excluded = false;
  }
  EXPECT_TRUE(world.RunToSequence(world.newest().value() + 4))
      << "stuck at " << world.newest().value() << Describe(world);
  EXPECT_EQ(Failures(world), "");
  return world.log();
}

TEST(SeatPropertyTest, HistoriesKeepInvariantsAndReplayFromTheirSeed) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const std::string log = RunHistory(seed);
    EXPECT_EQ(log, RunHistory(seed));
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace skerry::worker
