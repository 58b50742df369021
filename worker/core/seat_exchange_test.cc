#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "worker/core/seat.h"
#include "worker/core/testing/world_cases.h"

namespace skerry::worker {
namespace {

using compression::CodecId;

TEST(SeatExchangeTest, TwoHopsKeepAnchorsEqualAndConserve) {
  for (const CodecId codec : {CodecId::kRawF32, CodecId::kInt8Block}) {
    World world(Options({kAll, kAll, kAll}, "diloco", codec));
    ASSERT_TRUE(world.RunToSequence(8)) << Failures(world);
    ExpectConserved(world, 3);
  }
}

TEST(SeatExchangeTest, OneHopKeepsAnchorsEqualAndConserves) {
  for (const CodecId codec : {CodecId::kRawF32, CodecId::kInt8Block}) {
    WorldOptions options = Options({kAll, kAll}, "diloco", codec);
    options.hops = Hops::kOne;
    World world(options);
    ASSERT_TRUE(world.RunToSequence(8)) << Failures(world);
    ExpectConserved(world, 2);
  }
}

// The world compares each piece with the one in the result.
TEST(SeatExchangeTest, TheDiskIsGivenEachPieceBeforeTheResultIsWhole) {
  for (const Hops hops : {Hops::kOne, Hops::kTwo}) {
    WorldOptions options =
        Options({kAll, kHalves}, "diloco", CodecId::kInt8Block);
    options.hops = hops;
    options.settings.fragments = 2;
    options.settings.tau = 4;
    options.element_count = 6 * 4096 + 100;
    World world(options);
    ASSERT_TRUE(world.RunToSequence(4)) << Failures(world);
    // Three workers take part in four commits of each of two fragments.
    EXPECT_GE(world.results_ahead(), 3u * 4 * 2);
  }
}

// One of each family.
std::vector<CodecId> SparseCodecs() {
  std::vector<CodecId> codecs;
  for (const char* name : {"top_k/8", "chunk_top_k/64", "threshold_top_k/16"}) {
    codecs.push_back(*compression::ParseCodecName(name));
  }
  return codecs;
}

TEST(SeatExchangeTest, SparseInBothHopsKeepsAnchorsEqualAndConserves) {
  for (const CodecId codec : SparseCodecs()) {
    SCOPED_TRACE(compression::CodecName(codec));
    for (const Hops hops : {Hops::kOne, Hops::kTwo}) {
      for (const double beta : {1.0, 0.9}) {
        WorldOptions options =
            Options({kAll, kHalves, kAll}, "local_sgd", codec);
        options.hops = hops;
        options.settings.beta = beta;
        World world(options);
        ASSERT_TRUE(world.RunToSequence(6)) << Failures(world);
        ExpectConserved(world, 4);
        EXPECT_EQ(world.failures().size(), 0u) << Failures(world);
      }
    }
  }
}

// Who owns which span changes with every attempt, in any world.
TEST(SeatExchangeTest, CodecsMayChangeWithAttemptsCarriesAndOwners) {
  const auto run = [](uint64_t seed, bool results_apart) {
    WorldOptions options =
        Options({kAll, kHalves, kAll}, "average_plus_local_delta",
                CodecId::kInt8Block, seed);
    options.codecs = SparseCodecs();
    options.codecs.push_back(CodecId::kInt8Block);
    options.codecs.push_back(CodecId::kSign1);
    if (results_apart) options.result_codecs = options.codecs;
    options.loss = 0.1;
    options.repeat = 0.1;
    World world(options);
    for (uint64_t sequence = 2; sequence <= 12; sequence += 2) {
      EXPECT_TRUE(world.RunUntil([&] {
        return world.newest().value() + 1 >= sequence && world.open();
      })) << Failures(world);
      // The attempt is given up; its next leaves one of the three out.
      world.Reopen({static_cast<uint32_t>((seed + sequence / 2) % 3)});
      EXPECT_TRUE(world.RunUntil([&] {
        return world.newest().value() >= sequence;
      })) << Failures(world);
      for (uint32_t r = 0; r < 3; ++r) world.replica(r).excluded = false;
    }
    EXPECT_TRUE(world.RunToSequence(14)) << Failures(world);
    ExpectConserved(world, 4);
    EXPECT_EQ(world.failures().size(), 0u) << Failures(world);
    return world.log();
  };
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    for (const bool results_apart : {false, true}) {
      SCOPED_TRACE(absl::StrCat(seed, results_apart ? ", apart" : ""));
      const std::string log = run(seed, results_apart);
      if (seed == 1) {
        EXPECT_EQ(run(seed, results_apart), log);
      }
    }
  }
}

TEST(SeatExchangeTest, ARepeatedPartDoesNotChangeTheSum) {
  WorldOptions options =
      Options({kAll, kAll, kAll}, "local_sgd", CodecId::kRawF32);
  options.repeat = 0.5;
  World world(options);
  ASSERT_TRUE(world.RunToSequence(6)) << Failures(world);
  EXPECT_GT(world.parts_repeated(), 10u);
  ExpectConserved(world, 3);
}

TEST(SeatExchangeTest, AnExcludedContributionIsCarriedWholeAndExact) {
  World world(Options({kAll, kAll, kAll}, "local_sgd", CodecId::kInt8Block));
  ASSERT_TRUE(world.RunUntil([&] {
    return world.open() && world.open()->sequence == Sequence(3) &&
           world.seat(2)->Facts().fragments[0].stored &&
           world.seat(2)->Facts().fragments[0].stored->attempt ==
               world.open()->attempt;
  })) << Failures(world);
  const Values before = world.seat(2)->OwedOf(1);
  const auto ready = world.seat(2)->Facts().fragments[0].ready;
  ASSERT_TRUE(ready.has_value());
  world.Reopen({2});
  ASSERT_TRUE(world.open().has_value());
  EXPECT_EQ(world.open()->members.size(), 2u);
  world.PauseOpening(true);
  ASSERT_TRUE(world.RunUntil([&] { return world.newest() == Sequence(3); }));
  EXPECT_EQ(world.seat(2)->Facts().fragments[0].ready, ready);
  EXPECT_EQ(*world.seat(2)->OwedOf(1), *before);
  world.replica(2).excluded = false;
  world.PauseOpening(false);
  ASSERT_TRUE(world.RunToSequence(6)) << Failures(world);
  ExpectConserved(world, 3);
}

TEST(SeatExchangeTest, AResultIsReportedAgainOnceAFolderMadeAnewHasIt) {
  World world(Options({kAll, kAll}, "local_sgd", CodecId::kRawF32));
  const auto stored = [&] {
    return world.seat(1)->Facts().fragments[0].stored;
  };
  ASSERT_TRUE(world.RunUntil([&] {
    return world.open() && world.open()->sequence == Sequence(3) && stored() &&
           stored()->attempt == world.open()->attempt;
  })) << Failures(world);
  const auto before = stored();
  world.seat(1)->OnFolderGone(world.now());
  EXPECT_FALSE(stored().has_value());
  EXPECT_TRUE(world.seat(1)->Facts().fragments[0].bases.empty());
  ASSERT_TRUE(world.RunUntil([&] { return stored().has_value(); }))
      << Failures(world);
  EXPECT_EQ(stored(), before);
  ASSERT_TRUE(world.RunToSequence(6)) << Failures(world);
  ExpectConserved(world, 2);
}

TEST(SeatExchangeTest, OwnerThatDiesPartwayIsLeftOut) {
  World world(Options({kAll, kAll, kAll}, "local_sgd", CodecId::kInt8Block));
  ASSERT_TRUE(world.RunUntil([&] {
    return world.open() && world.open()->sequence == Sequence(3) &&
           !world.seat(0)->Facts().fragments[0].progress.empty();
  })) << Failures(world);
  world.Kill(1);
  world.Reopen({1});
  ASSERT_TRUE(world.RunToSequence(4)) << Failures(world);
  world.replica(1).excluded = false;
  world.Start(1, /*with_disk=*/true);
  ASSERT_TRUE(world.RunToSequence(8)) << Failures(world);
}

TEST(SeatExchangeTest, LateOrdersOfAnOlderAttemptAreIgnored) {
  World world(Options({kAll, kAll}, "local_sgd", CodecId::kRawF32));
  ASSERT_TRUE(world.RunUntil(
      [&] { return world.open() && world.open()->sequence == Sequence(2); }));
  const JobOrders late = world.OrdersFor(0);
  const Revision revision = world.revision();
  world.Reopen({});
  ASSERT_TRUE(world.RunToSequence(3)) << Failures(world);
  const JobFacts before = world.seat(0)->Facts();
  world.seat(0)->OnOrders(world.now(), revision, late,
                          world.options().settings);
  EXPECT_EQ(world.seat(0)->Facts(), before);
  ASSERT_TRUE(world.RunToSequence(5)) << Failures(world);
  ExpectConserved(world, 2);
}

}  // namespace
}  // namespace skerry::worker
