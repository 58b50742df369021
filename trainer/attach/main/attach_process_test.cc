// skerry-attach as a worker sees it: a program behind a Unix socket, and
// processes that must not outlive it.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer/attach/testing/attached_job.h"
#include "trainer/kit/main/tried_trainer.h"

namespace skerry::trainer::attach {
namespace {

using ::testing::HasSubstr;
using Stub = kit::TriedTrainer::Stub;

constexpr absl::Duration kSoon = absl::Minutes(1);

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class AttachProcessTest : public ::testing::Test {
 protected:
  AttachProcessTest() : folder_(QuadraticOptions(1).log_directory) {}

  void Start(const std::string& parameters = "", int ranks = 2) {
    auto started =
        kit::TriedTrainer::Start({"trainer/attach/main/skerry-attach",
                                  absl::StrCat("--program=", kQuadraticProgram),
                                  absl::StrCat("--log-directory=", folder_),
                                  absl::StrCat("--ranks=", ranks)},
                                 QuadraticJob(parameters));
    ASSERT_TRUE(started.ok()) << started.status();
    trainer_ = *std::move(started);
    const auto described = trainer_->SetUp();
    ASSERT_TRUE(described.ok()) << described.status();
    description_ = *described;
  }
  std::string Log(int rank) {
    return FileText(absl::StrCat(folder_, "/rank-", rank, ".log"));
  }

  const std::string folder_;
  v1::DescribeReply description_;
  std::unique_ptr<kit::TriedTrainer> trainer_;
};

TEST_F(AttachProcessTest, DescribesWhatTheProgramSays) {
  Start();
  EXPECT_EQ(description_.element_count(), 64u);
  ASSERT_EQ(description_.tensors_size(), 2);
  EXPECT_EQ(description_.tensors(1).name(), "vector");
  EXPECT_EQ(description_.tensors(1).tied(0), "vector.again");
  EXPECT_EQ(description_.capabilities().ranks(), 2u);
  EXPECT_FALSE(description_.capabilities().groups());
  ASSERT_EQ(description_.export_files_size(), 1);
  EXPECT_EQ(description_.export_files(0).content(), "{}");
  v1::RunReply run;
  ASSERT_TRUE(trainer_->Run(0, 20, 8, &run).ok());
  EXPECT_EQ(run.metrics().count("accuracy"), 1u);
  EXPECT_FALSE(run.no_loss());
}

TEST_F(AttachProcessTest, LastLinesOfTheProgramRunAfterExit) {
  Start();
  v1::ExitReply reply;
  ASSERT_TRUE(trainer_->Call(&Stub::Exit, v1::ExitRequest(), reply).ok());
  const auto exit = trainer_->AwaitExit(kSoon);
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 0);
  for (const int rank : {0, 1}) {
    EXPECT_THAT(Log(rank), HasSubstr("the loop is over"));
  }
}

TEST_F(AttachProcessTest, SignalEndsItAndTheRanks) {
  Start();
  trainer_->Signal(SIGTERM);
  const auto exit = trainer_->AwaitExit(kSoon);
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 0);
  EXPECT_THAT(Log(1), HasSubstr("the loop is over"));
}

TEST_F(AttachProcessTest, RankThatFailsIsTheAnswerOfTheCall) {
  Start(R"({"fault": "raises", "fault_call": "Run", "fault_rank": 1})");
  const absl::Status status = trainer_->Run(0, 8, 8);
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_EQ(status.message(),
            "RuntimeError: size mismatch (train.py:44); see rank-1.log");
}

// A killed parent cannot end them: the kernel does. They become children of
// this process, which then sees them end.
TEST_F(AttachProcessTest, KernelEndsTheRanksWhenItIsKilled) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  Start(R"({"fault": "hangs_on", "fault_call": "Run", "fault_rank": 1})");
  std::future<absl::Status> run = std::async(
      std::launch::async, [&] { return trainer_->Run(0, 80'000, 8); });
  v1::ProgressReply progress;
  while (progress.phase() != v1::TRAINER_PHASE_TRAINING) {
    ASSERT_TRUE(
        trainer_->Call(&Stub::Progress, v1::ProgressRequest(), progress).ok());
  }
  trainer_->Signal(SIGKILL);
  EXPECT_EQ(trainer_->AwaitExit(kSoon)->signal, SIGKILL);
  EXPECT_FALSE(run.get().ok());
  for (int rank = 0; rank < 2; ++rank) {
    int status = 0;
    ASSERT_GT(waitpid(-1, &status, 0), 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }
}

TEST(AttachFlagsTest, BadFlagsEndWithCodeTwo) {
  const std::vector<std::vector<std::string>> mistakes = {
      {},
      {"--program=x"},
      {"--program=x", "--log-directory=/tmp", "--ranks=0"},
      {"--program=x", "--log-directory=/tmp", "--ranks=257"},
      {"--program=x", "--log-directory=/tmp", "--nonsense"}};
  for (std::vector<std::string> flags : mistakes) {
    flags.insert(flags.begin(), "trainer/attach/main/skerry-attach");
    auto trainer = kit::TriedTrainer::Start(flags, QuadraticJob());
    ASSERT_TRUE(trainer.ok());
    EXPECT_EQ((*trainer)->AwaitExit(kSoon)->code, 2) << flags.back();
  }
}

}  // namespace
}  // namespace skerry::trainer::attach
