#include "runtime/posix/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/posix/start_failure.h"

namespace skerry::runtime {
namespace {

// Everything the child needs, made before the fork: between fork and exec only
// async-signal-safe calls are allowed.
struct ChildImage {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::vector<int> inherited_fds;
  int input_fd = -1;
  int output_fd = -1;
  bool own_group = false;
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
  image.inherited_fds = spec.inherited_fds;
  image.input_fd = spec.input_fd;
  image.output_fd = spec.output_fd;
  image.own_group = spec.own_group;
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

// Lays the child's descriptors out. Returns an errno, or 0.
int SetDescriptors(const ChildImage& image) {
  if (image.input_fd >= 0 && dup2(image.input_fd, STDIN_FILENO) < 0) {
    return errno;
  }
  if (image.output_fd >= 0 && (dup2(image.output_fd, STDOUT_FILENO) < 0 ||
                               dup2(image.output_fd, STDERR_FILENO) < 0)) {
    return errno;
  }
  for (const int fd : image.inherited_fds) {
    if (fcntl(fd, F_SETFD, 0) < 0) return errno;
  }
  return 0;
}

[[noreturn]] void RunChild(const ChildImage& image) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != image.parent) _exit(127);
  if (image.own_group) setpgid(0, 0);
  // This process's handlers are not for the child.
  for (const int one : {SIGPIPE, SIGTERM, SIGINT}) signal(one, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  int error = SetDescriptors(image);
  if (error == 0) {
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

}  // namespace

absl::StatusOr<pid_t> StartChild(const ProcessSpec& spec) {
  if (spec.argv.empty() || spec.argv[0].empty()) {
    return absl::InvalidArgumentError("no program to run");
  }
  ChildImage image;
  FillImage(spec, image);
  int error = 0;
  const pid_t pid = Fork(image, &error);
  if (error != 0) return StartFailure(spec.argv[0], error);
  return pid;
}

ProcessExit ExitOf(int status) {
  ProcessExit exit;
  if (WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
  if (WIFEXITED(status)) exit.code = WEXITSTATUS(status);
  return exit;
}

}  // namespace skerry::runtime
