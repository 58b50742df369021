// Spans whose values are averaged (PROTOCOL 4.5).
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "worker/core/seat.h"
#include "worker/core/testing/world_cases.h"

namespace skerry::worker {
namespace {

using compression::CodecId;
using protocol::Contribution;
using protocol::FragmentFacts;

constexpr uint64_t kAverageBegin = 2 * 4096;
constexpr uint32_t kAveraged = 2;  // the last of three spans

WorldOptions Averaging(std::vector<Spans> replicas, const char* method,
                       CodecId codec, uint64_t seed = 1) {
  WorldOptions options = Options(std::move(replicas), method, codec, seed);
  options.average_begin = kAverageBegin;
  options.settings.outer.undelayed_rounds_fraction = 0;
  // Values then stay between where they begin and the replicas' targets.
  options.noise = 0;
  return options;
}

// What the replicas offer, and what is made of it.
struct Watch {
  explicit Watch(World& watched) : world(watched) {}

  World& world;
  std::map<Attempt, OpenExchange> opened;
  // What was owed of the averaged span, in weighted units.
  std::map<std::pair<Life, Round>, Values> offers;
  uint64_t checked = 0;

  void Look() {
    if (world.open()) opened[world.open()->attempt] = *world.open();
    for (uint32_t w = 0; w < world.worker_count(); ++w) {
      if (world.seat(w) == nullptr) continue;
      const JobFacts facts = world.seat(w)->Facts();
      const auto& ready = facts.fragments[0].ready;
      const Values owed = world.seat(w)->OwedOf(kAveraged);
      if (ready && owed != nullptr) {
        offers.emplace(std::pair(facts.life, ready->round), owed);
      }
      Check(w, facts.fragments[0].applied);
    }
  }

  // The anchor is the weighted mean of what the members offered.
  void Check(uint32_t w, Sequence applied) {
    const Values anchor = world.seat(w)->AnchorOf(kAveraged);
    if (applied.value() <= checked || anchor == nullptr) return;
    const CommittedEntry& entry = world.committed()[applied.value() - 1];
    const OpenExchange& open = opened.at(entry.attempt);
    const size_t elements = world.options().element_count - kAverageBegin;
    std::vector<double> mean(elements);
    for (const protocol::Member& member : open.members) {
      const auto offer = offers.find({member.life, member.contribution.round});
      if (offer == offers.end()) return;  // it ended in this very event
      for (size_t i = 0; i < elements; ++i) {
        mean[i] -= (*offer->second)[i] / open.total_weight;
      }
    }
    checked = applied.value();
    for (size_t i = 0; i < elements; ++i) {
      ASSERT_NEAR((*anchor)[i], mean[i], 1e-5) << "at " << checked;
      const auto [least, most] = Hull(kAverageBegin + i);
      ASSERT_GE((*anchor)[i], least - 1e-5) << "at " << checked;
      ASSERT_LE((*anchor)[i], most + 1e-5) << "at " << checked;
    }
  }

  std::pair<float, float> Hull(uint64_t element) const {
    float least = World::InitialValue(element);
    float most = least;
    for (uint32_t r = 0; r < world.replica_count(); ++r) {
      least = std::min(least, world.Target(r, element));
      most = std::max(most, world.Target(r, element));
    }
    return {least, most};
  }

  void RunToSequence(uint64_t sequence) {
    ASSERT_TRUE(world.RunUntil([&] {
      Look();
      return testing::Test::HasFatalFailure() ||
             world.newest() >= Sequence(sequence);
    })) << Failures(world);
  }
};

TEST(SeatAverageTest, AnchorsAreMeansUnderEveryMethodAndCodec) {
  for (const char* method : {"local_sgd", "diloco", "co2", "late", "dasgd"}) {
    for (const CodecId codec :
         {CodecId::kRawF32, CodecId::kInt8Block, CodecId::kNf4}) {
      SCOPED_TRACE(method);
      WorldOptions options = Averaging({kAll, kHalves, kAll}, method, codec);
      options.loss = 0.05;
      options.repeat = 0.05;
      World world(options);
      Watch watch(world);
      ASSERT_NO_FATAL_FAILURE(watch.RunToSequence(10));
      EXPECT_GE(watch.checked, 8u);
      ExpectConserved(world, 4);
    }
  }
}

TEST(SeatAverageTest, TheOneHopExchangeAveragesToo) {
  WorldOptions options = Averaging({kAll, kAll}, "diloco", CodecId::kInt8Block);
  options.hops = Hops::kOne;
  World world(options);
  Watch watch(world);
  ASSERT_NO_FATAL_FAILURE(watch.RunToSequence(6));
  EXPECT_GE(watch.checked, 4u);
  ExpectConserved(world, 2);
}

// What is averaged is no distance, so the norms leave it out.
TEST(SeatAverageTest, TheMeasuredNormsAreThoseOfTheOtherSpans) {
  World world(Averaging({kAll, kAll}, "local_sgd", CodecId::kRawF32));
  int compared = 0;
  ASSERT_TRUE(world.RunUntil([&] {
    const FragmentFacts facts = world.seat(0)->Facts().fragments[0];
    if (!facts.ready) return facts.applied >= Sequence(4);
    double squared = 0;
    for (uint32_t span = 0; span < kAveraged; ++span) {
      const Values owed = world.seat(0)->OwedOf(span);
      for (const float value : *owed) {
        const double moved = value / facts.ready->weight;
        squared += moved * moved;
      }
    }
    EXPECT_NEAR(facts.ready->scalars.delta_squared_norm, squared,
                1e-4 * squared);
    EXPECT_LT(facts.owed_norm * facts.owed_norm,
              1.001 * squared * facts.ready->weight * facts.ready->weight);
    ++compared;
    return facts.applied >= Sequence(4);
  })) << Failures(world);
  EXPECT_GT(compared, 0);
}

// A replica alone keeps what its trainer made of the values, while the outer
// step of its method works on the others.
TEST(SeatAverageTest, OneReplicaKeepsItsValues) {
  World world(Averaging({kAll}, "diloco", CodecId::kRawF32));
  std::map<Round, Contribution> offers;
  ASSERT_TRUE(world.RunUntil([&] {
    const FragmentFacts facts = world.seat(0)->Facts().fragments[0];
    if (facts.ready) offers[facts.ready->round] = *facts.ready;
    return facts.applied >= Sequence(5);
  })) << Failures(world);
  std::vector<float> live(world.options().element_count);
  for (size_t i = 0; i < live.size(); ++i) live[i] = World::InitialValue(i);
  uint64_t left = world.seat(0)->Facts().fragments[0].applied.value();
  for (const auto& [round, offer] : offers) {
    if (left-- == 0) break;
    world.Train(0, offer.ranges, 2, live);
  }
  const Values anchor = world.seat(0)->AnchorOf(kAveraged);
  // Momentum follows, and has nothing to do with them.
  const size_t elements = live.size() - kAverageBegin;
  ASSERT_EQ(anchor->size(), 2 * elements);
  for (size_t i = 0; i < elements; ++i) {
    ASSERT_NEAR((*anchor)[i], live[kAverageBegin + i], 1e-5);
    ASSERT_EQ((*anchor)[elements + i], 0.0f);
  }
}

TEST(SeatAverageTest, AWorkerThatComesBackHasTheValuesOfTheOthers) {
  World world(Averaging({kAll, kAll}, "co2", CodecId::kInt8Block));
  Watch watch(world);
  ASSERT_NO_FATAL_FAILURE(watch.RunToSequence(3));
  world.Kill(1);
  ASSERT_NO_FATAL_FAILURE(watch.RunToSequence(6));
  world.Start(1, /*with_disk=*/false);
  ASSERT_TRUE(world.RunUntil([&] {
    watch.Look();
    return world.newest() >= Sequence(9) && world.open() &&
           world.open()->members.size() == 2;
  })) << Failures(world);
  EXPECT_GE(watch.checked, 7u);
}

TEST(SeatAverageTest, TheLastOfSeveralFragmentsHasThem) {
  WorldOptions options = Averaging({kAll, kAll}, "diloco", CodecId::kInt8Block);
  options.settings.fragments = 2;
  options.settings.tau = 4;
  options.average_begin = 6 * 4096;
  options.element_count = options.average_begin + 100;
  World world(options);
  ASSERT_TRUE(world.RunToSequence(6)) << Failures(world);
  EXPECT_EQ(world.Cut()[0].size(), world.Cut()[1].size());
  EXPECT_EQ(world.Cut()[1].back().begin, options.average_begin);
  const Values anchor = world.seat(0)->AnchorOf(
      static_cast<uint32_t>(world.Cut()[1].size() - 1), 1);
  for (size_t i = 0; i < 100; ++i) {
    const auto [least, most] = Watch(world).Hull(options.average_begin + i);
    ASSERT_GE((*anchor)[i], least - 1e-5);
    ASSERT_LE((*anchor)[i], most + 1e-5);
  }
  ExpectConserved(world, 2);
}

TEST(SeatAverageTest, TheSeatSaysWhereTheyBegin) {
  World world(Averaging({kAll}, "local_sgd", CodecId::kRawF32));
  ASSERT_TRUE(world.RunToSequence(1)) << Failures(world);
  EXPECT_EQ(world.seat(0)->Facts().average_begin, kAverageBegin);
}

}  // namespace
}  // namespace skerry::worker
