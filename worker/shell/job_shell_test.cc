// What a job's shell decides, over ports that do what the test says.
#include "worker/shell/job_shell.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "job/testing/specs.h"
#include "worker/shell/testing/fake_machine.h"

namespace skerry::worker {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kElements = 8 * 4096;

class JobShellTest : public testing::Test {
 protected:
  JobShellTest() {
    orders_.job = JobId(7);
    orders_.uid = 70;
    orders_.phase = protocol::JobPhase::kRunning;
    orders_.spec = job::SmallJob("bible", 1000);
    orders_.fragments.resize(1);
  }

  // The job begins with the state of a checkpoint, which is to be read here.
  void BeginAtCheckpoint() {
    job::JobSpec::Checkpoint from;
    from.path = "/store";
    from.name = "checkpoint-5";
    from.sha256 = std::string(64, 'a');
    from.samples = job::Samples::kAnew;
    orders_.spec.model.checkpoint = from;
  }
  // The job has gone back to checkpoint 4, as state 9.
  void GoBack() {
    orders_.spec.checkpoint = job::JobSpec::Checkpoints{.directory = "/saved"};
    orders_.restored =
        protocol::RestoredState{Sequence(9), Sequence(4), std::string(64, 'b')};
  }
  void Start() {
    shell_ = std::make_unique<JobShell>(orders_, machine_.Machine(),
                                        [this] { ++changes_; });
    ASSERT_TRUE(shell_->Start().ok());
    Hear();
  }
  void Hear() {
    ASSERT_TRUE(shell_->OnOrders(Revision(++revision_), orders_).ok());
  }
  void End() {
    orders_.phase = protocol::JobPhase::kSucceeded;
    Hear();
  }
  void Prompt() {
    orders_.generate.push_back({.request = 1, .prompt = "In the", .tokens = 4});
    Hear();
  }
  static StartingBase Base() {
    StartingBase base;
    base.files.resize(1);
    base.files[0].file.pieces = {{0, 11}};
    base.files[0].contents.resize(1);
    return base;
  }
  size_t starts() const { return machine_.starts.size(); }
  void TrainerFails(const absl::Status& why) {
    machine_.listener->OnTrainerFailed(why);
  }
  // Returns how long it takes from now until the next trainer is started.
  absl::Duration UntilNextStart(absl::Duration most) {
    const size_t before = starts();
    const Instant from = machine_.loop.Now();
    while (starts() == before) {
      const auto timer = machine_.loop.NextTimer();
      if (!timer.has_value() || *timer - from > most) {
        return absl::InfiniteDuration();
      }
      machine_.loop.AdvanceTo(*timer);
    }
    return machine_.loop.Now() - from;
  }

  FakeMachine machine_;
  protocol::JobOrders orders_;
  uint64_t revision_ = 0;
  int changes_ = 0;
  std::unique_ptr<JobShell> shell_;
};

TEST_F(JobShellTest, ATrainerStartsWhenItsDataAreThere) {
  machine_.has_data = false;
  Start();
  EXPECT_EQ(starts(), 0u);
  machine_.has_data = true;
  machine_.listener->OnData(absl::OkStatus());
  ASSERT_EQ(starts(), 1u);
  EXPECT_EQ(machine_.starts[0].data_folder, "/data");
  EXPECT_FALSE(machine_.starts[0].data_verified);
}

TEST_F(JobShellTest, TheWaitForTheNextTrainerGrows) {
  Start();
  absl::Duration before;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(starts(), size_t(i + 1));
    TrainerFails(absl::UnavailableError("it was killed"));
    EXPECT_FALSE(machine_.runs);
    EXPECT_EQ(shell_->Facts().error, "it was killed");
    const absl::Duration wait = UntilNextStart(absl::Minutes(1));
    EXPECT_EQ(wait, i == 0 ? absl::Milliseconds(100) : 2 * before);
    before = wait;
  }
}

TEST_F(JobShellTest, AJobThatCannotBeginHasFailedUntilATrainerIsReady) {
  Start();
  TrainerFails(absl::NotFoundError("no shard is there"));
  EXPECT_EQ(shell_->Facts().state, protocol::SeatState::kFailed);
  EXPECT_EQ(shell_->Facts().error, "no shard is there");
  EXPECT_LT(UntilNextStart(absl::Minutes(2)), absl::Minutes(2));
  EXPECT_EQ(shell_->Facts().state, protocol::SeatState::kFailed);
  machine_.TrainerReady(kElements);
  EXPECT_NE(shell_->Facts().state, protocol::SeatState::kFailed);
  EXPECT_EQ(shell_->Facts().error, "");
  // The next trainer need not read the data again.
  TrainerFails(absl::UnavailableError("it was killed"));
  UntilNextStart(absl::Minutes(1));
  EXPECT_TRUE(machine_.starts.back().data_verified);
}

TEST_F(JobShellTest, AfterManyTrainersNoneIsStartedAndTheReasonStays) {
  Start();
  for (int i = 0; i < 9; ++i) {
    TrainerFails(absl::UnavailableError("it was killed"));
    ASSERT_LT(UntilNextStart(absl::Minutes(1)), absl::Minutes(1)) << i;
  }
  TrainerFails(absl::UnavailableError("it was killed"));
  EXPECT_EQ(UntilNextStart(absl::Hours(1)), absl::InfiniteDuration());
  EXPECT_EQ(shell_->Facts().state, protocol::SeatState::kFailed);
  EXPECT_THAT(shell_->Facts().error, HasSubstr("10 trainers in a row"));
}

TEST_F(JobShellTest, AHangCountsAndItsLongestStepIsKept) {
  Start();
  machine_.TrainerReady(kElements);
  machine_.progress = TrainerProgress{.phase = TrainerPhase::kTraining,
                                      .pieces = 1,
                                      .steps = 1,
                                      .longest_step = absl::Seconds(4)};
  machine_.loop.Advance(absl::Seconds(1));
  EXPECT_THAT(machine_.fails, IsEmpty());
  machine_.loop.Advance(absl::Seconds(20));  // its work stands still
  EXPECT_THAT(machine_.fails, IsEmpty());
  EXPECT_THAT(shell_->Facts().trainer_trouble,
              HasSubstr("its work has stood still"));
  machine_.loop.Advance(absl::Seconds(10));
  ASSERT_THAT(machine_.fails, SizeIs(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded(machine_.fails[0]));
  TrainerFails(machine_.fails[0]);
  EXPECT_THAT(shell_->Facts().trainer_trouble,
              HasSubstr("1 trainer(s) of the job were so here"));
  // Another process may be silent for as long before it is asked to go.
  machine_.progress = TrainerProgress{.phase = TrainerPhase::kIdle};
  UntilNextStart(absl::Minutes(1));
  machine_.TrainerReady(kElements);
  machine_.loop.Advance(absl::Seconds(1));
  machine_.progress.reset();
  machine_.loop.Advance(absl::Seconds(26));
  EXPECT_THAT(machine_.fails, SizeIs(1));
  machine_.loop.Advance(absl::Seconds(3));
  EXPECT_THAT(machine_.fails, SizeIs(2));
}

TEST_F(JobShellTest, WhatTheSeatSaysOfItsTrainerIsSaidAtOnce) {
  Start();
  machine_.TrainerReady(kElements);
  machine_.listener->OnTrainerRestart(absl::InternalError("the loss is NaN"));
  ASSERT_THAT(machine_.fails, SizeIs(1));
  EXPECT_EQ(shell_->Facts().error, "the loss is NaN");
}

TEST_F(JobShellTest, ABaseThatCannotBeReadIsReadAgain) {
  BeginAtCheckpoint();
  Start();
  ASSERT_THAT(machine_.reads, SizeIs(1));
  machine_.Read(absl::NotFoundError("there is no checkpoint-5"));
  EXPECT_EQ(shell_->Facts().state, protocol::SeatState::kFailed);
  EXPECT_THAT(shell_->Facts().error, HasSubstr("model.checkpoint"));
  machine_.loop.Advance(absl::Seconds(59));
  EXPECT_THAT(machine_.reads, IsEmpty());
  machine_.loop.Advance(absl::Seconds(1));
  ASSERT_THAT(machine_.reads, SizeIs(1));
  EXPECT_EQ(starts(), 0u);
  machine_.Read(Base());
  ASSERT_THAT(machine_.writes, SizeIs(1));
  EXPECT_EQ(starts(), 0u) << "the base is not on the disk";
  machine_.Written(absl::OkStatus());
  EXPECT_EQ(starts(), 1u);
}

TEST_F(JobShellTest, ABaseThatCannotBeStoredIsReadAgain) {
  BeginAtCheckpoint();
  Start();
  machine_.Read(Base());
  machine_.Written(absl::ResourceExhaustedError("no space left"));
  EXPECT_EQ(shell_->Facts().error, "disk: no space left");
  EXPECT_EQ(starts(), 0u);
  machine_.loop.Advance(absl::Seconds(5));
  ASSERT_THAT(machine_.reads, SizeIs(1));
  machine_.Read(Base());
  machine_.Written(absl::OkStatus());
  EXPECT_EQ(starts(), 1u);
}

TEST_F(JobShellTest, AStateThatTheJobWentBackToIsReadUntilSomebodyHasIt) {
  GoBack();
  Start();
  machine_.Read(absl::UnavailableError("the store does not answer"));
  EXPECT_EQ(starts(), 1u) << "another worker may have it";
  machine_.loop.Advance(absl::Minutes(1));
  ASSERT_THAT(machine_.reads, SizeIs(1));
  machine_.Read(Base());
  ASSERT_THAT(machine_.writes, SizeIs(1));
  EXPECT_EQ(machine_.writes[0].file.sequence, Sequence(9));
  machine_.Written(absl::OkStatus());
  machine_.loop.Advance(absl::Hours(1));
  EXPECT_THAT(machine_.reads, IsEmpty());
}

TEST_F(JobShellTest, AFolderThatTakesNoCheckpointIsLookedAtAgain) {
  orders_.spec.checkpoint = job::JobSpec::Checkpoints{.directory = "/saved"};
  Start();
  const auto answer = [this](absl::Status status) {
    ASSERT_THAT(machine_.checks, SizeIs(1));
    auto check = std::move(machine_.checks.front());
    machine_.checks.clear();
    std::move(check)(std::move(status));
  };
  answer(absl::PermissionDeniedError("/saved is read-only"));
  EXPECT_EQ(shell_->Facts().checkpoint_trouble, "/saved is read-only");
  machine_.loop.Advance(absl::Seconds(5));
  answer(absl::OkStatus());
  EXPECT_EQ(shell_->Facts().checkpoint_trouble, "");
  machine_.loop.Advance(absl::Hours(1));
  EXPECT_THAT(machine_.checks, IsEmpty());
}

TEST_F(JobShellTest, ASaveWaitsForTheInnerState) {
  Start();
  machine_.TrainerReady(kElements);
  protocol::CheckpointOrder& order = orders_.checkpoint.emplace();
  order.sequence = Sequence(3);
  order.pieces.push_back({11, {"b"}});
  machine_.inner_busy = true;
  Hear();
  machine_.loop.RunUntilIdle();
  EXPECT_THAT(machine_.saves, IsEmpty());
  machine_.inner_busy = false;
  machine_.inner = SharedBytes(std::make_shared<std::vector<float>>(16, 1.0f));
  machine_.listener->OnInnerKept();
  ASSERT_THAT(machine_.saves, SizeIs(1));
  EXPECT_EQ(machine_.saves[0].first.inner.size(), 64u);
  EXPECT_EQ(machine_.saves[0].first.spec.data.path, "/data");
}

TEST_F(JobShellTest, AJobThatHasEndedAnswersAPromptAlthoughTrainersFailed) {
  Start();
  TrainerFails(absl::NotFoundError("no shard is there"));
  End();
  EXPECT_EQ(shell_->Facts().error, "");
  EXPECT_NE(shell_->Facts().state, protocol::SeatState::kFailed);
  EXPECT_EQ(UntilNextStart(absl::Minutes(5)), absl::InfiniteDuration());
  const size_t before = starts();
  Prompt();
  EXPECT_EQ(starts(), before + 1);
  TrainerFails(absl::NotFoundError("no shard is there"));
  EXPECT_NE(shell_->Facts().state, protocol::SeatState::kFailed);
  ASSERT_THAT(shell_->Facts().generated, SizeIs(1));
  EXPECT_THAT(shell_->Facts().generated[0].error, HasSubstr("no shard"));
}

TEST_F(JobShellTest, TheTrainerOfAJobThatEndsIsDropped) {
  Start();
  machine_.TrainerReady(kElements);
  EXPECT_TRUE(machine_.runs);
  End();
  EXPECT_FALSE(machine_.runs);
}

}  // namespace
}  // namespace skerry::worker
