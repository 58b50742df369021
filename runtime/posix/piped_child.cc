#include "runtime/posix/piped_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/posix/start_failure.h"

namespace skerry::runtime {
namespace {

constexpr size_t kStepBytes = size_t{1} << 20;
constexpr size_t kErrorBytesMax = size_t{64} << 10;
constexpr size_t kErrorLineBytesMax = 300;

// Two descriptors that are closed together.
struct Pair {
  ~Pair() {
    for (const int fd : fds) {
      if (fd >= 0) close(fd);
    }
  }
  int Take(int i) { return std::exchange(fds[i], -1); }
  int fds[2] = {-1, -1};
};

// Starts `argv` with `input_output` as its standard input and output.
int Spawn(const std::vector<std::string>& argv, int input_output, int errors,
          pid_t* pid) {
  std::vector<std::string> words = argv;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input_output, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, input_output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawnp(pid, pointers[0], &actions, &attributes,
                                 pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// How a child ended. One that was ending already stays with its own status:
// that is settled before the kernel closes its descriptors.
int Reap(pid_t pid) {
  kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string EndText(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return absl::StrCat("was killed by signal ", signal, " (",
                        strsignal(signal), ")");
  }
  return absl::StrCat("ended with status ", WEXITSTATUS(status));
}

}  // namespace

absl::StatusOr<std::unique_ptr<PipedChild>> PipedChild::Start(
    const std::vector<std::string>& argv) {
  if (argv.empty() || argv[0].empty()) {
    return absl::InvalidArgumentError("no program to run");
  }
  Pair sockets;
  Pair errors;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.fds) != 0 ||
      pipe2(errors.fds, O_CLOEXEC | O_NONBLOCK) != 0) {
    return StartFailure(argv[0], errno);
  }
  pid_t pid = -1;
  const int error = Spawn(argv, sockets.fds[1], errors.fds[1], &pid);
  if (error != 0) return StartFailure(argv[0], error);
  const std::string name = argv[0].substr(argv[0].rfind('/') + 1);
  return std::unique_ptr<PipedChild>(
      new PipedChild(name, pid, sockets.Take(0), errors.Take(0)));
}

PipedChild::~PipedChild() {
  close(socket_);
  if (pid_ >= 0) Reap(pid_);
  close(errors_);
}

absl::Status PipedChild::Send(std::string_view bytes) {
  SKERRY_RETURN_IF_ERROR(failure_);
  while (!bytes.empty()) {
    const ssize_t sent =
        send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      SKERRY_RETURN_IF_ERROR(AwaitRoom());
    } else if (errno != EINTR) {
      return Fail();
    }
  }
  return absl::OkStatus();
}

absl::Status PipedChild::AwaitRoom() {
  pollfd ready{.fd = socket_, .events = POLLIN | POLLOUT, .revents = 0};
  while (poll(&ready, 1, -1) < 0) {
    if (errno != EINTR) return Fail();
  }
  // Both would wait for each other if it were not taken, and nobody has asked.
  char byte = 0;
  const bool answers = (ready.revents & POLLIN) != 0 &&
                       recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  return answers ? Fail("answers before it has heard the question")
                 : absl::OkStatus();
}

absl::Status PipedChild::Receive(size_t count, std::string& bytes) {
  SKERRY_RETURN_IF_ERROR(failure_);
  bytes.clear();
  while (bytes.size() < count) {
    const size_t before = bytes.size();
    const size_t step = std::min(count - before, kStepBytes);
    bytes.resize(before + step);
    const ssize_t got = recv(socket_, &bytes[before], step, MSG_WAITALL);
    if (got == 0 || (got < 0 && errno != EINTR)) return Fail();
    bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  }
  return absl::OkStatus();
}

absl::Status PipedChild::Fail() {
  const std::string end = EndText(Reap(std::exchange(pid_, -1)));
  const std::string last = LastErrorLine();
  return Fail(last.empty() ? end : absl::StrCat(end, ": ", last));
}

absl::Status PipedChild::Fail(absl::string_view what) {
  failure_ = absl::InternalError(absl::StrCat(name_, " ", what));
  return failure_;
}

std::string PipedChild::LastErrorLine() const {
  std::string text(kErrorBytesMax, '\0');
  const ssize_t got = read(errors_, text.data(), text.size());
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  while (!text.empty() && absl::ascii_isspace(text.back())) text.pop_back();
  text.erase(0, text.rfind('\n') + 1);
  for (char& c : text) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = ' ';
  }
  return text.substr(0, kErrorLineBytesMax);
}

}  // namespace skerry::runtime
