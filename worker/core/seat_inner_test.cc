// The inner state of trainers, saved at boundaries and loaded by the next one.
#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "worker/core/seat.h"
#include "worker/core/testing/world_cases.h"
#include "worker/core/testing/world_ports.h"

namespace skerry::worker {
namespace {

using compression::CodecId;

WorldOptions Saving(std::vector<Spans> replicas) {
  WorldOptions options =
      Options(std::move(replicas), "local_sgd", CodecId::kRawF32);
  options.saves_inner = true;
  return options;
}

// The events of worker 0 that begin with `words`.
int Events(World& world, const std::string& words) {
  const auto& events = world.worker(0).events;
  return static_cast<int>(std::count_if(
      events.begin(), events.end(),
      [&](const std::string& event) { return event.starts_with(words); }));
}

constexpr char kGoesOn[] = "goes on with the inner state of sequence ";
constexpr char kCold[] = "begins with cold moments, because ";

// Worker 0's trainer fails, and another one takes part in two commits.
void FailAndGoOn(World& world) {
  world.FailTrainer(0);
  ASSERT_TRUE(world.RunToSequence(world.newest().value() + 3))
      << Failures(world);
}

TEST(SeatInnerTest, ATrainerThatIsRestartedGoesOnWithWhatWasSaved) {
  World world(Saving({kAll, kAll}));
  ASSERT_TRUE(world.RunToSequence(6)) << Failures(world);
  World::Worker& worker = world.worker(0);
  EXPECT_EQ(Events(world, kGoesOn) + Events(world, kCold), 0);
  EXPECT_GE(worker.inner_saves, 1);
  ASSERT_TRUE(worker.saved_inner.has_value());
  const auto saved = *worker.saved_inner;
  EXPECT_GE(saved.second, 1u);
  FailAndGoOn(world);
  EXPECT_EQ(Events(world, kGoesOn + std::to_string(saved.first.sequence)), 1)
      << worker.events.back();
  EXPECT_EQ(Events(world, kCold), 0);
  EXPECT_GT(worker.inner, saved.second);
}

TEST(SeatInnerTest, SoDoesTheOneOfAWorkerThatIsRestarted) {
  World world(Saving({kAll, kAll}));
  ASSERT_TRUE(world.RunToSequence(6)) << Failures(world);
  world.Kill(0);
  world.Start(0, /*with_disk=*/true);
  ASSERT_TRUE(world.RunToSequence(world.newest().value() + 3))
      << Failures(world);
  EXPECT_EQ(Events(world, kGoesOn), 1);
}

TEST(SeatInnerTest, MembersOfAGroupLoadBeforeTheyJoin) {
  World world(Saving({kHalves, kAll}));
  ASSERT_TRUE(world.RunToSequence(6)) << Failures(world);
  FailAndGoOn(world);
  EXPECT_EQ(Events(world, kGoesOn), 1);
  EXPECT_FALSE(world.worker(0).joined_before_load);
}

TEST(SeatInnerTest, WhyATrainerBeginsColdIsSaid) {
  WorldOptions options = Saving({kAll, kAll});
  options.saves_inner = false;
  World cannot(options);
  ASSERT_TRUE(cannot.RunToSequence(4)) << Failures(cannot);
  FailAndGoOn(cannot);
  EXPECT_EQ(
      Events(cannot, std::string(kCold) + "its trainer saves no inner state"),
      1);
  EXPECT_EQ(cannot.worker(0).inner_saves, 0);

  World broken(Saving({kAll, kAll}));
  ASSERT_TRUE(broken.RunToSequence(4)) << Failures(broken);
  broken.worker(0).inner_load = absl::InvalidArgumentError("it is cut off");
  FailAndGoOn(broken);
  EXPECT_EQ(Events(broken, std::string(kCold) + "it is cut off"), 1);
  EXPECT_EQ(broken.seat(0)->Facts().counters.trainer_restarts, 1u);

  World none(Saving({kAll, kAll}));
  ASSERT_TRUE(none.RunToSequence(4)) << Failures(none);
  none.worker(0).saved_inner.reset();
  FailAndGoOn(none);
  EXPECT_EQ(Events(none, std::string(kCold) + "this worker has saved none"), 1);
}

// Loading kills the trainer: the third one does without.
TEST(SeatInnerTest, AStateThatKillsTrainersIsGivenUp) {
  World world(Saving({kAll, kAll}));
  ASSERT_TRUE(world.RunToSequence(4)) << Failures(world);
  world.worker(0).inner_load = absl::InternalError("out of memory");
  FailAndGoOn(world);
  EXPECT_EQ(world.seat(0)->Facts().counters.trainer_restarts, 3u);
  EXPECT_EQ(Events(world, std::string(kCold) + "the last two trainers"), 1);
}

// A save that takes a second has to wait for a hundred, and for no checkpoint.
TEST(SeatInnerTest, SlowSavesAreRare) {
  WorldOptions options = Saving({kAll, kAll});
  options.inner_takes = absl::Seconds(1);
  World world(options);
  ASSERT_TRUE(world.RunToSequence(12)) << Failures(world);
  EXPECT_EQ(world.worker(0).inner_saves, 1);
  options.settings.checkpoint_every = 4;
  World saved(options);
  ASSERT_TRUE(saved.RunToSequence(12)) << Failures(saved);
  EXPECT_GE(saved.worker(0).inner_saves, 3);
  EXPECT_LE(saved.worker(0).inner_saves, 4);
}

// A checkpoint of the last state is taken by whoever goes on from it with more
// samples. With results that come a round late, nothing is trained between the
// last two states.
TEST(SeatInnerTest, TheLastStateIsSavedForTheLastCheckpoint) {
  for (const char* method : {"local_sgd", "co2"}) {
    for (const uint64_t every : {0, 1000}) {
      WorldOptions options = Options({kAll, kAll}, method, CodecId::kRawF32);
      options.saves_inner = true;
      options.inner_takes = absl::Seconds(1);  // no other one is due by time
      options.settings.samples = 108;
      options.settings.checkpoint_every = every;
      World world(options);
      ASSERT_TRUE(world.RunUntil([&] {
        return !world.committed().empty() &&
               world.committed().back().samples_committed == 108;
      })) << Failures(world);
      world.Settle();
      const uint64_t last = world.newest().value();
      const auto& saved = world.worker(0).saved_inner;
      ASSERT_TRUE(saved.has_value());
      EXPECT_EQ(saved->first.sequence == last, every > 0)
          << method << " saved at " << saved->first.sequence << " of " << last;
      EXPECT_FALSE(world.seat(0)->AwaitsInner(Sequence(last)));
    }
  }
}

TEST(SeatInnerTest, ADrainingWorkerSavesTheStateWithWhichItLeaves) {
  for (const char* method : {"local_sgd", "co2"}) {
    WorldOptions options = Options({kAll}, method, CodecId::kRawF32);
    options.saves_inner = true;
    options.inner_takes = absl::Seconds(1);
    options.settings.checkpoint_every = 1000;
    World world(options);
    ASSERT_TRUE(world.RunToSequence(5)) << Failures(world);
    const int saves = world.worker(0).inner_saves;
    world.replica(0).dormant = true;  // no life comes after this one
    world.seat(0)->Drain(world.now());
    world.Settle();
    EXPECT_FALSE(world.seat(0)->Facts().life.is_set());
    const auto& saved = world.worker(0).saved_inner;
    ASSERT_TRUE(saved.has_value());
    EXPECT_EQ(saved->first.sequence, world.newest().value()) << method;
    EXPECT_EQ(saved->second, world.worker(0).inner) << method;
    EXPECT_LE(world.worker(0).inner_saves, saves + 2) << method;
    EXPECT_FALSE(world.seat(0)->AwaitsInner(world.newest()));
  }
}

// The base of a state is there before the trainer has passed its boundary.
TEST(SeatInnerTest, ACheckpointWaitsForTheBoundaryAndNoLonger) {
  for (const bool saves : {true, false}) {
    WorldOptions options = Saving({kAll, kAll});
    options.saves_inner = saves;
    options.inner_takes = absl::Milliseconds(50);
    options.settings.checkpoint_every = 4;
    World world(options);
    bool waited = false;
    bool had_base = false;
    ASSERT_TRUE(world.RunUntil([&] {
      const JobFacts facts = world.seat(0)->Facts();
      const bool applied = facts.fragments[0].applied == Sequence(4);
      had_base |= applied;
      waited |= applied && world.seat(0)->AwaitsInner(Sequence(4));
      return facts.fragments[0].applied > Sequence(4);
    })) << Failures(world);
    EXPECT_TRUE(had_base);
    EXPECT_EQ(waited, saves);
    EXPECT_FALSE(world.seat(0)->AwaitsInner(Sequence(4)));
    if (!saves) continue;
    ASSERT_TRUE(world.worker(0).saved_inner.has_value());
    EXPECT_EQ(world.worker(0).saved_inner->first.sequence, 4u);
  }
}

TEST(SeatInnerTest, AJobThatGoesOnSaysAtItsBeginningWithWhatItsTrainersBegin) {
  for (const bool goes_on : {true, false}) {
    WorldOptions options = Saving({kAll, kAll});
    options.goes_on = goes_on;
    World without(options);
    ASSERT_TRUE(without.RunToSequence(2)) << Failures(without);
    EXPECT_EQ(Events(without, kCold), goes_on ? 1 : 0);

    World with(options);
    with.worker(0).saved_inner = {InnerLabel{0, 40}, 320};
    ASSERT_TRUE(with.RunToSequence(2)) << Failures(with);
    EXPECT_EQ(Events(with, std::string(kGoesOn) + "40, which has 320 steps"),
              1);
    EXPECT_GT(with.worker(0).inner, 320u);
  }
}

}  // namespace
}  // namespace skerry::worker
