#include "worker/core/seat.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/hash.h"
#include "gtest/gtest.h"
#include "worker/core/testing/world.h"

namespace skerry::worker {
namespace {

using compression::CodecId;
using Spans = std::vector<std::pair<uint32_t, uint32_t>>;

const Spans kAll = {{0, 3}};
const Spans kHalves = {{0, 1}, {1, 3}};

WorldOptions Options(std::vector<Spans> replicas, const char* method,
                     CodecId codec, uint64_t seed = 1) {
  WorldOptions options;
  options.seed = seed;
  options.replicas = std::move(replicas);
  options.settings.outer = *optimizer::OuterPreset(method);
  options.settings.beta = codec == CodecId::kRawF32 ? 0.0 : 1.0;
  options.settings.codec = codec;
  options.settings.samples = 100000;
  options.settings.batch_samples = 2;
  options.settings.tau = 3;
  options.settings.spans = 3;
  return options;
}

std::string Failures(const World& world) {
  return absl::StrJoin(world.failures(), "\n");
}

Audit Total(World& world, uint32_t workers) {
  Audit total;
  for (uint32_t i = 0; i < workers; ++i) {
    const Audit one = world.seat(i)->GetAudit();
    total.produced += one.produced;
    total.taken += one.taken;
    total.lost += one.lost;
    total.owed += one.owed;
  }
  return total;
}

// Every commit is in; what was produced is in the model, owed or lost.
void ExpectConserved(World& world, uint32_t workers) {
  world.PauseOpening(true);
  world.Settle();
  const Audit total = Total(world, workers);
  const double scale = 1 + std::abs(total.produced);
  EXPECT_NEAR(total.taken / scale, world.decoded_into_model() / scale, 1e-4);
  EXPECT_NEAR((total.produced - total.taken - total.lost - total.owed) / scale,
              0, 1e-5);
}

TEST(SeatTest, OneReplicaUnderLocalSgdIsPlainTraining) {
  World world(Options({kAll}, "local_sgd", CodecId::kRawF32));
  ASSERT_TRUE(world.RunToSequence(5)) << Failures(world);
  std::vector<float> live(world.options().element_count);
  for (size_t i = 0; i < live.size(); ++i) live[i] = World::InitialValue(i);
  for (uint64_t round = 0; round < 5; ++round) {
    world.Train(0, data::RangeSet(data::SampleRange{6 * round, 6 * round + 6}),
                2, live);
  }
  const Sequence applied = world.seat(0)->Facts().applied;
  ASSERT_EQ(applied, Sequence(5));
  const Values first = world.seat(0)->AnchorOf(0);
  for (size_t i = 0; i < 4096; ++i) EXPECT_NEAR((*first)[i], live[i], 1e-5);
}

TEST(SeatTest, TwoHopsKeepAnchorsEqualAndConserve) {
  for (const CodecId codec : {CodecId::kRawF32, CodecId::kInt8Block}) {
    World world(Options({kAll, kAll, kAll}, "diloco", codec));
    ASSERT_TRUE(world.RunToSequence(8)) << Failures(world);
    ExpectConserved(world, 3);
  }
}

TEST(SeatTest, OneHopKeepsAnchorsEqualAndConserves) {
  for (const CodecId codec : {CodecId::kRawF32, CodecId::kInt8Block}) {
    WorldOptions options = Options({kAll, kAll}, "diloco", codec);
    options.hops = Hops::kOne;
    World world(options);
    ASSERT_TRUE(world.RunToSequence(8)) << Failures(world);
    ExpectConserved(world, 2);
  }
}

TEST(SeatTest, AReplicaOfTwoWorkersRunsItsRoundsAtOneCut) {
  for (const char* method : {"local_sgd", "co2", "average_plus_local_delta"}) {
    World world(Options({kHalves, kAll, kHalves}, method, CodecId::kInt8Block));
    ASSERT_TRUE(world.RunToSequence(8)) << method << "\n" << Failures(world);
    ExpectConserved(world, 5);
  }
}

TEST(SeatTest, ARepeatedPartDoesNotChangeTheSum) {
  WorldOptions options =
      Options({kAll, kAll, kAll}, "local_sgd", CodecId::kRawF32);
  options.repeat = 0.5;
  World world(options);
  ASSERT_TRUE(world.RunToSequence(6)) << Failures(world);
  EXPECT_GT(world.parts_repeated(), 10u);
  ExpectConserved(world, 3);
}

TEST(SeatTest, AnExcludedContributionIsCarriedWholeAndExact) {
  World world(Options({kAll, kAll, kAll}, "local_sgd", CodecId::kInt8Block));
  ASSERT_TRUE(world.RunUntil([&] {
    return world.open() && world.open()->sequence == Sequence(3) &&
           world.seat(2)->Facts().stored &&
           world.seat(2)->Facts().stored->attempt == world.open()->attempt;
  })) << Failures(world);
  const Values before = world.seat(2)->OwedOf(1);
  const auto ready = world.seat(2)->Facts().ready;
  ASSERT_TRUE(ready.has_value());
  world.Reopen({2});
  ASSERT_TRUE(world.open().has_value());
  EXPECT_EQ(world.open()->members.size(), 2u);
  world.PauseOpening(true);
  ASSERT_TRUE(world.RunUntil([&] { return world.newest() == Sequence(3); }));
  EXPECT_EQ(world.seat(2)->Facts().ready, ready);
  EXPECT_EQ(*world.seat(2)->OwedOf(1), *before);
  world.replica(2).excluded = false;
  world.PauseOpening(false);
  ASSERT_TRUE(world.RunToSequence(6)) << Failures(world);
  ExpectConserved(world, 3);
}

TEST(SeatTest, OwnerThatDiesPartwayIsLeftOut) {
  World world(Options({kAll, kAll, kAll}, "local_sgd", CodecId::kInt8Block));
  ASSERT_TRUE(world.RunUntil([&] {
    return world.open() && world.open()->sequence == Sequence(3) &&
           !world.seat(0)->Facts().progress.empty();
  })) << Failures(world);
  world.Kill(1);
  world.Reopen({1});
  ASSERT_TRUE(world.RunToSequence(4)) << Failures(world);
  world.replica(1).excluded = false;
  world.Start(1, /*with_disk=*/true);
  ASSERT_TRUE(world.RunToSequence(8)) << Failures(world);
}

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

TEST(SeatTest, LateOrdersOfAnOlderAttemptAreIgnored) {
  World world(Options({kAll, kAll}, "local_sgd", CodecId::kRawF32));
  ASSERT_TRUE(world.RunUntil(
      [&] { return world.open() && world.open()->sequence == Sequence(2); }));
  const JobOrders late = world.OrdersFor(0);
  const Revision revision = world.revision();
  world.Reopen({});
  ASSERT_TRUE(world.RunToSequence(3)) << Failures(world);
  const JobFacts before = world.seat(0)->Facts();
  world.seat(0)->OnOrders(world.now(), revision, late);
  EXPECT_EQ(world.seat(0)->Facts(), before);
  ASSERT_TRUE(world.RunToSequence(5)) << Failures(world);
  ExpectConserved(world, 2);
}

TEST(SeatTest, TrainerThatDiesEndsTheLifeAndNothingElse) {
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

// The recursion of the delayed loop in float64, replica by replica.
TEST(SeatTest, Co2FollowsItsRecursion) {
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

TEST(SeatTest, EndOfTheJobEvaluatesTheLastAnchorAndRests) {
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

std::string Describe(World& world) {
  std::string out;
  for (uint32_t i = 0; i < world.worker_count(); ++i) {
    if (world.seat(i) == nullptr) continue;
    const JobFacts facts = world.seat(i)->Facts();
    absl::StrAppend(&out, "\nw", i, ": life ", facts.life.value(), " applied ",
                    facts.applied.value(), " through ",
                    facts.stored_through.value(), " held ",
                    facts.anchor_hashes.size(), "\n  ",
                    absl::StrJoin(world.LastEvents(i), "\n  "));
  }
  return out;
}

// A random history of kills, starts, dead trainers and replaced attempts.
std::string RunHistory(uint64_t seed) {
  Random random(seed);
  const char* const methods[] = {"local_sgd", "diloco", "co2",
                                 "average_plus_local_delta"};
  const CodecId codecs[] = {CodecId::kRawF32, CodecId::kBf16,
                            CodecId::kInt8Block};
  WorldOptions options =
      Options({kAll, kHalves, kAll}, methods[random.Below(4)],
              codecs[random.Below(3)], seed);
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
        world.Start(worker, random.Below(2) == 0);
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
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const std::string log = RunHistory(seed);
    EXPECT_EQ(log, RunHistory(seed));
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace skerry::worker
