#include "runtime/posix/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/posix/start_failure.h"
#include "runtime/posix/thread_name.h"

namespace skerry::runtime {
namespace {

// Everything the child needs, made before the fork: between fork and exec only
// async-signal-safe calls are allowed.
struct ChildImage {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<char*> argv;
  std::vector<char*> envp;
  int output_fd = -1;
  int error_fd = -1;
  pid_t parent = 0;
};

bool IsNamed(const std::string& assignment, const char* entry) {
  const size_t name_size = assignment.find('=');
  return name_size != std::string::npos &&
         strncmp(entry, assignment.c_str(), name_size + 1) == 0;
}

// Filled in place: the pointers are to its own strings.
void FillImage(const ProcessSpec& spec, ChildImage& image) {
  image.arguments = spec.argv;
  image.environment = spec.environment;
  image.output_fd = spec.output_fd;
  image.parent = getpid();
  for (std::string& argument : image.arguments) {
    image.argv.push_back(argument.data());
  }
  image.argv.push_back(nullptr);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool is_replaced = false;
    for (const std::string& assignment : spec.environment) {
      is_replaced = is_replaced || IsNamed(assignment, *entry);
    }
    if (!is_replaced) image.envp.push_back(*entry);
  }
  for (std::string& assignment : image.environment) {
    image.envp.push_back(assignment.data());
  }
  image.envp.push_back(nullptr);
}

[[noreturn]] void RunChild(const ChildImage& image) {
  // The kernel sends this when the *thread* that forked ends, which is why each
  // child has a thread that waits for it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != image.parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  int error = 0;
  if (image.output_fd >= 0 && (dup2(image.output_fd, STDOUT_FILENO) < 0 ||
                               dup2(image.output_fd, STDERR_FILENO) < 0)) {
    error = errno;
  } else {
    execvpe(image.argv[0], image.argv.data(), image.envp.data());
    error = errno;
  }
  const ssize_t told = write(image.error_fd, &error, sizeof(error));
  _exit(told == sizeof(error) ? 127 : 126);
}

// Forks and waits until the program runs. The errno of a failure is in *error.
pid_t Fork(ChildImage& image, int* error) {
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
    *error = errno;
    return -1;
  }
  image.error_fd = pipe_fds[1];
  const pid_t pid = fork();
  if (pid == 0) RunChild(image);
  if (pid < 0) *error = errno;
  close(pipe_fds[1]);
  if (pid > 0) {
    ssize_t n;
    do {
      n = read(pipe_fds[0], error, sizeof(*error));
    } while (n < 0 && errno == EINTR);
    if (n != sizeof(*error)) *error = 0;
  }
  close(pipe_fds[0]);
  if (pid > 0 && *error != 0) waitpid(pid, nullptr, 0);
  return *error == 0 ? pid : -1;
}

ProcessExit ExitOf(int status) {
  ProcessExit exit;
  if (WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
  if (WIFEXITED(status)) exit.code = WEXITSTATUS(status);
  return exit;
}

}  // namespace

struct Process::State {
  pid_t pid = -1;
  std::mutex mutex;
  bool has_ended = false;  // guarded by mutex; then the pid may be another's
  // False once the Process is gone. Touched on the loop only.
  std::shared_ptr<bool> is_wanted = std::make_shared<bool>(true);
  std::thread thread;

  // Waits for the end; the pid stays ours until `has_ended` is set.
  ProcessExit Reap() {
    siginfo_t info;
    while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) !=
               0 &&
           errno == EINTR) {
    }
    std::lock_guard<std::mutex> lock(mutex);
    has_ended = true;
    int status = 0;
    waitpid(pid, &status, 0);
    return ExitOf(status);
  }

  void Main(const ProcessSpec& spec, std::promise<int> started, EventLoop& loop,
            absl::AnyInvocable<void(ProcessExit) &&> on_exit) {
    NameThisThread("skerry-child");
    ChildImage image;
    FillImage(spec, image);
    int error = 0;
    pid = Fork(image, &error);
    started.set_value(error);
    if (error != 0) return;
    const ProcessExit exit = Reap();
    loop.Post(
        [wanted = is_wanted, exit, on_exit = std::move(on_exit)]() mutable {
          if (*wanted) std::move(on_exit)(exit);
        });
  }
};

absl::StatusOr<std::unique_ptr<Process>> Process::Start(
    const ProcessSpec& spec, EventLoop& loop,
    absl::AnyInvocable<void(ProcessExit) &&> on_exit) {
  if (spec.argv.empty() || spec.argv[0].empty()) {
    return absl::InvalidArgumentError("no program to run");
  }
  auto state = std::make_unique<State>();
  std::promise<int> started;
  std::future<int> error = started.get_future();
  state->thread =
      std::thread([raw = state.get(), spec, started = std::move(started), &loop,
                   on_exit = std::move(on_exit)]() mutable {
        raw->Main(spec, std::move(started), loop, std::move(on_exit));
      });
  if (const int value = error.get(); value != 0) {
    state->thread.join();
    return StartFailure(spec.argv[0], value);
  }
  return std::unique_ptr<Process>(new Process(std::move(state)));
}

Process::Process(std::unique_ptr<State> state) : state_(std::move(state)) {}

Process::~Process() {
  *state_->is_wanted = false;
  Signal(SIGKILL);
  state_->thread.join();
}

pid_t Process::pid() const { return state_->pid; }

void Process::Signal(int signal) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (!state_->has_ended) kill(state_->pid, signal);
}

}  // namespace skerry::runtime
