// A seat whose trainer is a program of the user's.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "worker/core/seat.h"
#include "worker/core/testing/recovery_fixture.h"
#include "worker/core/testing/world_cases.h"
#include "worker/core/testing/world_ports.h"

namespace skerry::worker {
namespace {

using compression::CodecId;

WorldOptions ProgramOptions(std::vector<Spans> replicas) {
  WorldOptions options =
      Options(std::move(replicas), "co2", CodecId::kInt8Block);
  options.settings.program = true;
  return options;
}

TEST(SeatProgramTest, InitialValuesOfAnotherTrainerAreFetched) {
  WorldOptions options = ProgramOptions({kAll, kAll, kAll});
  options.own_initial = true;
  World world(options);
  // The world compares the anchors of all workers at every sequence.
  ASSERT_TRUE(world.RunToSequence(6)) << Failures(world);
  EXPECT_TRUE(world.failures().empty()) << Failures(world);
}

TEST(SeatProgramTest, WithoutWhoHasThemAWorkerWaitsAndSaysSo) {
  WorldOptions options = ProgramOptions({kAll, kAll});
  options.own_initial = true;
  World world(options);
  world.Kill(0);
  world.Settle();
  const JobFacts facts = world.seat(1)->Facts();
  EXPECT_EQ(world.seat(1)->AnchorOf(0), nullptr);
  EXPECT_EQ(facts.state, protocol::SeatState::kRecovering);
  EXPECT_NE(facts.error.find("begins with other values"), std::string::npos)
      << facts.error;
  world.Start(0, /*with_disk=*/false);
  ASSERT_TRUE(world.RunToSequence(3)) << Failures(world);
  EXPECT_EQ(world.seat(1)->Facts().error, "");
}

struct InitialTrainer final : NoTrainer {
  void Snapshot(const ElementRange& range, Done<absl::Status> done) override {
    ++asked;
    std::fill(shared->begin() + range.begin, shared->begin() + range.end, 7.0f);
    std::move(done)(Instant(), absl::OkStatus());
  }
  TrainerMemory memory() override { return {shared, *shared}; }

  std::shared_ptr<std::vector<float>> shared;
  int asked = 0;
};

TEST(SeatProgramTest, WhatWasMadeOfFormerValuesIsGivenUp) {
  const WorldOptions world = ProgramOptions({kAll});
  InitialTrainer trainer;
  trainer.shared = std::make_shared<std::vector<float>>(world.element_count);
  FakePorts ports;
  NoPeers peers;
  SeatOptions options;
  options.job = JobId(7);
  options.worker = "w0";
  Seat seat(std::move(options), {trainer, ports, ports, peers, ports});
  TrainerDescription description{world.element_count, 1000, 1.0};
  description.initial_hash = 5;
  seat.OnTrainerReady(Instant(), description);
  JobOrders orders;
  orders.job = JobId(7);
  orders.phase = protocol::JobPhase::kRunning;
  orders.holders = {{0, 3, {"w0", "w0", "w0"}}};
  orders.initial_hash = 5;
  seat.OnOrders(Instant(), Revision(1), orders, world.settings);
  ports.Run();
  ASSERT_NE(seat.AnchorOf(0), nullptr);
  ASSERT_EQ(ports.files.size(), 1u);
  orders.initial_hash = 6;
  seat.OnOrders(Instant(), Revision(2), orders, world.settings);
  ports.Run();
  EXPECT_EQ(seat.AnchorOf(0), nullptr);
  EXPECT_TRUE(ports.files.empty());
  EXPECT_EQ(trainer.asked, 1);
}

TEST(SeatProgramTest, InAJobOfTheEngineTheHashIsNotAsked) {
  WorldOptions options = ProgramOptions({kAll});
  options.settings.program = false;
  World world(options);
  EXPECT_TRUE(world.RunToSequence(2)) << Failures(world);
}

TEST(SeatProgramTest, ATrainerThatCannotEvaluateIsNotAsked) {
  WorldOptions options = ProgramOptions({kAll});
  options.evaluates = false;
  World world(options);
  world.AskEvaluation({Sequence(1), 64});
  ASSERT_TRUE(world.RunToSequence(4)) << Failures(world);
  const JobFacts facts = world.seat(0)->Facts();
  EXPECT_TRUE(facts.evaluations.empty());
  // Data without a validation split give the same number.
  EXPECT_EQ(facts.validation_samples, uint64_t{0});
}

TEST(SeatProgramTest, APromptForATrainerThatCannotGenerateIsAnswered) {
  WorldOptions options = ProgramOptions({kAll});
  options.generates = false;
  World world(options);
  ASSERT_TRUE(world.RunToSequence(1)) << Failures(world);
  world.AskGeneration({5, "hello", 3, 0, 1});
  ASSERT_TRUE(world.RunUntil([&] {
    return !world.seat(0)->Facts().generated.empty();
  })) << Failures(world);
  EXPECT_EQ(world.seat(0)->Facts().generated[0].error,
            "the job's program does not generate text");
}

TEST(SeatProgramTest, ARoundWithoutALossSaysSo) {
  WorldOptions options = ProgramOptions({kAll, kAll});
  options.no_loss = true;
  World world(options);
  ASSERT_TRUE(world.RunToSequence(1)) << Failures(world);
  ASSERT_TRUE(world.RunUntil(
      [&] { return world.seat(0)->Facts().fragments[0].ready.has_value(); }));
  const protocol::RoundScalars scalars =
      world.seat(0)->Facts().fragments[0].ready->scalars;
  EXPECT_TRUE(scalars.no_loss);
  EXPECT_EQ(scalars.loss, 0);
}

TEST(SeatProgramTest, MetricsAreMeansOverTheLastRound) {
  World world(ProgramOptions({kAll}));
  EXPECT_TRUE(world.seat(0)->Facts().metrics.empty());
  ASSERT_TRUE(world.RunToSequence(2)) << Failures(world);
  const protocol::Metrics metrics = world.seat(0)->Facts().metrics;
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_GT(metrics.at("steps"), 0);
}

TEST(SeatProgramTest, TheTrainerIsToldWhatProbablyComesNext) {
  WorldOptions options = ProgramOptions({kAll});
  options.rounds_ahead = 10;
  World world(options);
  const World::Worker& worker = world.worker(0);
  const uint64_t round =
      uint64_t{options.settings.tau} * options.settings.batch_samples;
  uint64_t most = 0;
  ASSERT_TRUE(world.RunUntil([&] {
    EXPECT_TRUE(worker.upcoming.Intersect(worker.ran).empty());
    EXPECT_TRUE(world.replica(0).leased.ContainsAll(worker.upcoming));
    EXPECT_LE(worker.upcoming.total(), 4 * round);
    most = std::max(most, worker.upcoming.total());
    return world.newest() >= Sequence(8);
  })) << Failures(world);
  EXPECT_EQ(most, 4 * round);
}

}  // namespace
}  // namespace skerry::worker
