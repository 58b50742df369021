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

// A seat of one worker whose trainer begins with the values of hash 5.
class BeginningTest : public testing::Test {
 protected:
  BeginningTest() : world_(ProgramOptions({kAll})) {
    trainer_.shared =
        std::make_shared<std::vector<float>>(world_.element_count);
    orders_.job = JobId(7);
    orders_.phase = protocol::JobPhase::kRunning;
    orders_.holders = {{0, 3, {"w0", "w0", "w0"}}};
  }

  // A new process, which finds on its disk what the last one left.
  void Start() {
    seat_.reset();
    SeatOptions options;
    options.job = JobId(7);
    options.worker = "w0";
    for (const auto& [file, contents] : ports_.files) {
      options.on_disk.push_back(file);
    }
    seat_ = std::make_unique<Seat>(
        std::move(options), Effects{trainer_, ports_, ports_, peers_, ports_});
    TrainerDescription description{world_.element_count, 1000, 1.0};
    description.initial_hash = 5;
    seat_->OnTrainerReady(Instant(), description);
  }

  void Begin(uint64_t initial_hash) {
    orders_.initial_hash = initial_hash;
    revision_ = Next(revision_);
    seat_->OnOrders(Instant(), revision_, orders_, world_.settings);
    ports_.Run();
  }

  const WorldOptions world_;
  InitialTrainer trainer_;
  FakePorts ports_;
  NoPeers peers_;
  JobOrders orders_;
  Revision revision_;
  std::unique_ptr<Seat> seat_;
};

TEST_F(BeginningTest, WhatWasMadeOfFormerValuesIsGivenUp) {
  Start();
  Begin(5);
  ASSERT_NE(seat_->AnchorOf(0), nullptr);
  ASSERT_EQ(ports_.files.size(), 1u);
  EXPECT_EQ(seat_->Facts().begun_with, 5u);
  Begin(6);
  EXPECT_EQ(seat_->AnchorOf(0), nullptr);
  EXPECT_TRUE(ports_.files.empty());
  EXPECT_EQ(seat_->Facts().begun_with, 0u);
  EXPECT_EQ(trainer_.asked, 1);
}

// The job has lost its journal, and began again while this worker was away.
TEST_F(BeginningTest, ANewProcessGivesUpWhatItsDiskHasOfOtherValues) {
  Start();
  Begin(5);
  ASSERT_EQ(ports_.files.size(), 1u);
  Start();
  EXPECT_EQ(seat_->Facts().begun_with, 5u);
  // Nobody has said yet how large the job is.
  Begin(0);
  EXPECT_EQ(ports_.files.size(), 1u);
  Begin(6);
  EXPECT_EQ(seat_->AnchorOf(0), nullptr);
  EXPECT_TRUE(ports_.files.empty());
  EXPECT_EQ(seat_->Facts().begun_with, 0u);
}

TEST_F(BeginningTest, ANewProcessKeepsWhatItsDiskHasOfTheJobsValues) {
  Start();
  Begin(5);
  Start();
  Begin(5);
  EXPECT_NE(seat_->AnchorOf(0), nullptr);
  EXPECT_EQ(ports_.files.size(), 1u);
  EXPECT_EQ(trainer_.asked, 1);
}

// Other workers can begin with that state alone.
TEST_F(BeginningTest, AFirstStateWhoseFolderIsGoneIsStoredAgain) {
  Start();
  Begin(5);
  ASSERT_EQ(ports_.files.size(), 1u);
  ports_.files.clear();
  seat_->OnFolderGone(Instant());
  ports_.Run();
  ASSERT_EQ(ports_.files.size(), 1u);
  EXPECT_EQ(ports_.files[0].first.initial_hash, 5u);
}

// The right journal may be found, and it needs the base for what follows.
TEST_F(BeginningTest, ABaseWithResultsAfterItStaysOnTheDisk) {
  Start();
  Begin(5);
  ASSERT_EQ(ports_.files.size(), 1u);
  auto [result, contents] = ports_.files[0];
  result.kind = PieceKey::Kind::kResult;
  result.sequence = Sequence(1);
  result.attempt = Attempt(40);
  result.initial_hash = 0;
  ports_.files.push_back({result, contents});
  Start();
  Begin(6);
  EXPECT_EQ(seat_->AnchorOf(0), nullptr);
  EXPECT_EQ(seat_->Facts().begun_with, 0u);
  EXPECT_TRUE(seat_->Facts().fragments[0].bases.empty());
  EXPECT_EQ(ports_.files.size(), 2u);
  Begin(5);
  EXPECT_NE(seat_->AnchorOf(0), nullptr);
  EXPECT_EQ(trainer_.asked, 1);
}

// An older journal was put in place. What was committed is all that is left.
TEST_F(BeginningTest, ACommittedStateIsKeptWithWhateverValuesTheJobBegins) {
  Start();
  Begin(5);
  ASSERT_EQ(ports_.files.size(), 1u);
  auto [file, contents] = *ports_.files.begin();
  file.sequence = Sequence(9);
  file.attempt = Attempt(40);
  file.initial_hash = 0;
  ports_.files = {{file, contents}};
  Start();
  Begin(5);
  ASSERT_NE(seat_->AnchorOf(0), nullptr);
  Begin(6);
  EXPECT_NE(seat_->AnchorOf(0), nullptr);
  EXPECT_EQ(ports_.files.size(), 1u);
  EXPECT_EQ(seat_->Facts().fragments[0].applied, Sequence(9));
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
