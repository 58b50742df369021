#include "trainer/attach/service/attached_trainer.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer/attach/testing/attached_job.h"
#include "trainer/service/posix_inner_file.h"
#include "trainer/testing/trainer_conformance.h"

namespace skerry::trainer::attach {
namespace {

using ::testing::HasSubstr;

TrainerFactory MakeQuadratic(int ranks) {
  return [ranks] {
    auto trainer = StartWithMemory(QuadraticOptions(ranks), QuadraticJob());
    EXPECT_TRUE(trainer.ok()) << trainer.status();
    return *std::move(trainer);
  };
}

}  // namespace
}  // namespace skerry::trainer::attach

namespace skerry::trainer {

INSTANTIATE_TEST_SUITE_P(AttachedAlone, TrainerConformance,
                         ::testing::Values(attach::MakeQuadratic(1)));
INSTANTIATE_TEST_SUITE_P(AttachedThree, TrainerConformance,
                         ::testing::Values(attach::MakeQuadratic(3)));

}  // namespace skerry::trainer

namespace skerry::trainer::attach {
namespace {

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Processes below this one, as the kernel lists them.
std::vector<int> Children() {
  std::vector<int> children;
  DIR* const threads = opendir("/proc/self/task");
  while (const dirent* entry = readdir(threads)) {
    std::istringstream pids(
        FileText(absl::StrCat("/proc/self/task/", entry->d_name, "/children")));
    for (int pid = 0; pids >> pid;) children.push_back(pid);
  }
  closedir(threads);
  return children;
}

class AttachedTrainerTest : public ::testing::Test {
 protected:
  ~AttachedTrainerTest() override {
    EXPECT_THAT(Children(), ::testing::IsEmpty());
  }

  // What the first call says that does not go well: the start, three runs with
  // everything else between them, and the end.
  absl::Status Train(const std::string& parameters) {
    auto trainer = StartWithMemory(options_, QuadraticJob(parameters));
    if (!trainer.ok()) return trainer.status();
    const ElementRange all[] = {{0, (*trainer)->description().element_count}};
    std::vector<float> state(all[0].end);
    for (uint64_t round = 0; round < 3; ++round) {
      const auto run =
          (*trainer)->Run(Samples(round * 40, round * 40 + 40, 8), NeverStop);
      if (!run.ok()) return AfterFailure(**trainer, run.status());
      absl::Status status = (*trainer)->Snapshot(all, state);
      if (!status.ok()) return AfterFailure(**trainer, status);
      status = (*trainer)->Load(all, {}, state);
      if (!status.ok()) return AfterFailure(**trainer, status);
      status = (*trainer)->Evaluate(0, NeverStop).status();
      if (!status.ok()) return AfterFailure(**trainer, status);
      status = (*trainer)
                   ->Generate({.prompt = "a", .tokens = 2}, NeverStop)
                   .status();
      if (!status.ok()) return AfterFailure(**trainer, status);
    }
    return absl::OkStatus();
  }

  // With the answer, no process is left, and every later call says the same.
  absl::Status AfterFailure(Trainer& trainer, const absl::Status& failure) {
    if (!absl::IsInternal(failure)) return failure;
    EXPECT_THAT(Children(), ::testing::IsEmpty());
    EXPECT_EQ(trainer.Run(Samples(0, 8, 8), NeverStop).status(), failure);
    return failure;
  }

  static std::string Fault(const std::string& name, const std::string& call,
                           int rank = 0) {
    return absl::StrCat(R"({"fault": ")", name, R"(", "fault_call": ")", call,
                        R"(", "fault_rank": )", rank, "}");
  }
  std::string Log(int rank) {
    return FileText(
        absl::StrCat(options_.log_directory, "/rank-", rank, ".log"));
  }

  AttachOptions options_ = QuadraticOptions(1);
};

constexpr const char* kCalls[] = {"Describe", "Run",      "Snapshot",
                                  "Load",     "Evaluate", "Generate"};

TEST_F(AttachedTrainerTest, ProgramTrainsAndEndsByItself) {
  EXPECT_TRUE(Train("").ok());
  EXPECT_THAT(Log(0), HasSubstr("the loop is over"));
}

TEST_F(AttachedTrainerTest, RankThatDiesInAnyCallIsNamedWithItsLastLine) {
  for (const char* call : kCalls) {
    const absl::Status status = Train(Fault("dies", call));
    EXPECT_TRUE(absl::IsInternal(status)) << call << status;
    EXPECT_EQ(status.message(),
              "rank 0 ended with code 3: the last thing that it says; see "
              "rank-0.log")
        << call;
  }
}

TEST_F(AttachedTrainerTest, OneOfSeveralRanksEndsAll) {
  options_.ranks = 3;
  for (const char* call : kCalls) {
    const absl::Status status = Train(Fault("killed", call, 1));
    EXPECT_EQ(status.message(), "rank 1 was killed (signal 9); see rank-1.log")
        << call;
  }
}

TEST_F(AttachedTrainerTest, WordsOfAnExceptionBeatTheExitCode) {
  for (const char* call : kCalls) {
    EXPECT_EQ(Train(Fault("raises", call)).message(),
              "RuntimeError: size mismatch (train.py:44); see rank-0.log");
  }
}

TEST_F(AttachedTrainerTest, FailureBetweenTwoCallsIsTheNextOnesAnswer) {
  EXPECT_EQ(Train(Fault("fails_between", "")).message(),
            "KeyError: 7 (data.py:9); see rank-0.log");
  EXPECT_THAT(Log(0), HasSubstr("KeyError"));
}

TEST_F(AttachedTrainerTest, FailureBeforeTheFirstLineIsTheLastOneOfItsLog) {
  EXPECT_EQ(Train(Fault("no_hello", "")).message(),
            "rank 0 ended with code 1: ModuleNotFoundError: No module named "
            "'torchvision'; see rank-0.log");
}

TEST_F(AttachedTrainerTest, BrokenLinesEndTheRanks) {
  options_.ranks = 2;
  EXPECT_THAT(Train(Fault("garbles", "Run", 1)).message(),
              HasSubstr("rank 1 sent a line that is not JSON at byte 1"));
  EXPECT_THAT(Train(Fault("floods", "Run", 1)).message(),
              HasSubstr("rank 1 sent a line that has more than 33554432"));
  EXPECT_THAT(Train(Fault("answers_twice", "", 1)).message(),
              HasSubstr("rank 1 answered the call"));
  EXPECT_THAT(Train(Fault("other_version", "", 1)).message(),
              HasSubstr("rank 1 speaks version 2 of the lines (quadratic 1)"));
}

TEST_F(AttachedTrainerTest, RankThatClosesItsConnectionIsEnded) {
  EXPECT_EQ(Train(Fault("closes", "Run")).message(),
            "rank 0 closed its connection; see rank-0.log");
}

TEST_F(AttachedTrainerTest, WrongAnswersAreRefused) {
  options_.ranks = 2;
  EXPECT_THAT(Train(Fault("other_table", "", 1)).message(),
              HasSubstr("rank 1 has other tensors"));
  EXPECT_THAT(Train(Fault("file_name", "")).message(),
              HasSubstr("'../config.json' has no plain file name"));
  EXPECT_THAT(Train(Fault("loses_samples", "", 1)).message(),
              HasSubstr("the ranks trained on 39 samples of 40"));
  EXPECT_TRUE(Train(Fault("odd_metric", "")).ok());
}

TEST_F(AttachedTrainerTest, InnerStatesThatDifferInSizeAreRefused) {
  auto trainer = StartWithMemory(
      QuadraticOptions(3),
      QuadraticJob(R"({"fault": "odd_inner", "fault_rank": 2})"));
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  PosixInnerFile file(absl::StrCat(::testing::TempDir(), "/odd-", getpid()),
                      [] {});
  const auto saved = (*trainer)->SaveInner({1, 1}, file);
  EXPECT_TRUE(absl::IsInvalidArgument(saved.status())) << saved.status();
  EXPECT_THAT(std::string(saved.status().message()),
              HasSubstr("different sizes"));
  // It goes on.
  EXPECT_TRUE((*trainer)->Run(Samples(0, 8, 8), NeverStop).ok());
  EXPECT_EQ(remove(file.path().c_str()), 0);
}

// A program of an earlier release is asked for no inner state.
TEST_F(AttachedTrainerTest, InnerStatesNeedAllRanks) {
  const auto trainer =
      StartWithMemory(QuadraticOptions(2),
                      QuadraticJob(R"({"fault": "former", "fault_rank": 1})"));
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  EXPECT_FALSE((*trainer)->description().capabilities.saves_inner);
  PosixInnerFile file("/nowhere/at/all", [] {});
  EXPECT_TRUE(
      absl::IsUnimplemented((*trainer)->SaveInner({1, 1}, file).status()));
  EXPECT_TRUE(absl::IsUnimplemented((*trainer)->LoadInner(1, file).status()));
}

TEST_F(AttachedTrainerTest, WhatARankHasStartedEndsWithIt) {
  // What a rank leaves behind becomes a child of this process.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  auto trainer =
      StartWithMemory(options_, QuadraticJob(Fault("has_child", "Run")));
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  const absl::Status status =
      (*trainer)->Run(Samples(0, 8, 8), NeverStop).status();
  int child = 0;
  ASSERT_EQ(std::sscanf(std::string(status.message()).c_str(),
                        "rank 0 ended with code 3: child %d; see", &child),
            1)
      << status;
  int ended = 0;
  ASSERT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_TRUE(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL) << ended;
}

TEST_F(AttachedTrainerTest, RanksThatStandStillAreEndedWithTheirStacks) {
  std::atomic<int64_t> ahead_s{0};
  options_.ranks = 2;
  options_.now = [&] {
    return runtime::MonotonicNow() + absl::Seconds(ahead_s.load());
  };
  auto trainer =
      StartWithMemory(options_, QuadraticJob(Fault("hangs_on", "Evaluate", 1)));
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  ASSERT_TRUE((*trainer)->Run(Samples(0, 80, 8), NeverStop).ok());
  // Each time that it asks, a minute has gone by, until they stand for too
  // long.
  const absl::Status status = (*trainer)
                                  ->Evaluate(0,
                                             [&] {
                                               if (ahead_s < 660) ahead_s += 60;
                                               return false;
                                             })
                                  .status();
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_THAT(status.message(), HasSubstr("no answer to Evaluate for "));
  EXPECT_THAT(Log(1), HasSubstr("in hangs\n"));
}

TEST_F(AttachedTrainerTest, ProgramThatIsNotThereIsNamed) {
  options_.program = "/nowhere/train.py";
  const absl::Status status = Train("");
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(status.message(), HasSubstr("/nowhere/train.py"));
  options_.program = kQuadraticProgram;
  options_.python = "no-such-python";
  EXPECT_TRUE(absl::IsNotFound(Train("")));
  options_.python = "python3";
  options_.log_directory += "/nowhere";
  EXPECT_THAT(Train("").message(), HasSubstr("--log-directory"));
}

TEST_F(AttachedTrainerTest, StopEndsTheStart) {
  const auto trainer = AttachedTrainer::Start(
      options_, QuadraticJob(Fault("hangs", "Describe")), [] { return true; });
  EXPECT_TRUE(absl::IsAborted(trainer.status()));
}

TEST_F(AttachedTrainerTest, EveryStepIsCountedOnce) {
  auto trainer = StartWithMemory(options_, QuadraticJob());
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  int steps = 0;
  (*trainer)->set_on_step([&] { ++steps; });
  for (int run = 1; run <= 3; ++run) {
    const auto result = (*trainer)->Run(Samples(0, 83, 8), NeverStop);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->inner_steps, 11u);
    EXPECT_EQ(steps, 11 * run);
    EXPECT_EQ(result->metrics.count("accuracy"), 1u);
  }
}

}  // namespace
}  // namespace skerry::trainer::attach
