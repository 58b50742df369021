#include "runtime/posix/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/posix/posix_loop.h"

namespace skerry::runtime {
namespace {

// A shell with its output in a pipe.
class ProcessTest : public testing::Test {
 protected:
  ProcessTest() { EXPECT_EQ(pipe(pipe_), 0); }
  ~ProcessTest() override {
    process_.reset();
    CloseWriter();
    close(pipe_[0]);
  }

  absl::Status Start(ProcessSpec spec) {
    spec.output_fd = pipe_[1];
    auto started = Process::Start(
        spec, loop_, [this](ProcessExit exit) { exit_.set_value(exit); });
    if (started.ok()) process_ = *std::move(started);
    return started.status();
  }
  absl::Status StartShell(const std::string& script,
                          std::vector<std::string> environment = {}) {
    return Start(
        {.argv = {"sh", "-c", script}, .environment = std::move(environment)});
  }
  ProcessExit AwaitExit() { return exit_.get_future().get(); }
  void CloseWriter() {
    if (pipe_[1] >= 0) close(pipe_[1]);
    pipe_[1] = -1;
  }
  // All output until every writer has gone.
  std::string AwaitOutput() {
    CloseWriter();
    std::string text;
    char buffer[256];
    ssize_t n;
    while ((n = read(pipe_[0], buffer, sizeof(buffer))) > 0) {
      text.append(buffer, static_cast<size_t>(n));
    }
    return text;
  }

  int pipe_[2];
  std::promise<ProcessExit> exit_;
  PosixLoop loop_{"test-loop"};
  std::unique_ptr<Process> process_;
};

TEST_F(ProcessTest, TheExitCodeArrivesOnTheLoop) {
  ASSERT_TRUE(StartShell("exit 7").ok());
  const ProcessExit exit = AwaitExit();
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(exit.signal, 0);
}

TEST_F(ProcessTest, ASignalIsToldApartFromAnExit) {
  ASSERT_TRUE(StartShell("exec sleep 1000").ok());
  process_->Signal(SIGTERM);
  EXPECT_EQ(AwaitExit().signal, SIGTERM);
  // The pid is no longer ours; this must hit nobody.
  process_->Signal(SIGKILL);
}

TEST_F(ProcessTest, TheEnvironmentIsAddedToAndReplaced) {
  setenv("SKERRY_TEST_A", "old", 1);
  setenv("SKERRY_TEST_AB", "kept", 1);
  ASSERT_TRUE(StartShell("echo $SKERRY_TEST_A $SKERRY_TEST_AB $SKERRY_TEST_C",
                         {"SKERRY_TEST_A=new", "SKERRY_TEST_C=added"})
                  .ok());
  EXPECT_EQ(AwaitOutput(), "new kept added\n");
}

TEST_F(ProcessTest, AProgramThatIsNotThereIsNotFoundAndNamed) {
  const absl::Status status = Start({.argv = {"/no/such/trainer"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("/no/such/trainer"), absl::string_view::npos);
  EXPECT_EQ(Start({.argv = {"/etc"}}).code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Start({}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ProcessTest, DestroyingItKillsTheChildAndRunsNothingLater) {
  ASSERT_TRUE(StartShell("exec sleep 1000").ok());
  std::promise<void> destroyed;
  loop_.Post([&] {
    process_.reset();
    destroyed.set_value();
  });
  destroyed.get_future().get();
  // End of file: no process holds the pipe any more.
  EXPECT_EQ(AwaitOutput(), "");
  loop_.Stop();
  EXPECT_EQ(exit_.get_future().wait_for(std::chrono::seconds(0)),
            std::future_status::timeout);
}

// The middle process dies without any chance to clean up, and the grandchild,
// which holds the pipe, must die with it.
TEST(ProcessDeathTest, AChildDoesNotOutliveAParentThatIsKilled) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const pid_t middle = fork();
  ASSERT_GE(middle, 0);
  if (middle == 0) {
    PosixLoop loop("middle");
    auto child =
        Process::Start({.argv = {"sh", "-c", "echo ready; exec sleep 1000"},
                        .output_fd = fds[1]},
                       loop, [](ProcessExit) {});
    pause();
    _exit(child.ok() ? 0 : 1);
  }
  close(fds[1]);
  char buffer[6];
  ASSERT_EQ(read(fds[0], buffer, sizeof(buffer)), 6);
  kill(middle, SIGKILL);
  EXPECT_EQ(read(fds[0], buffer, sizeof(buffer)), 0);
  close(fds[0]);
  waitpid(middle, nullptr, 0);
}

}  // namespace
}  // namespace skerry::runtime
