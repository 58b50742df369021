#include "trainer/attach/service/rank_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/posix/child.h"

namespace skerry::trainer::attach {
namespace {

constexpr size_t kReadBytes = size_t{64} << 10;
// Reads of what is left when a process has ended. What another process goes on
// to write is not waited for.
constexpr int kLastReadsMax = 1024;

// Descriptors that are closed when they have not been taken.
class Descriptors {
 public:
  Descriptors() = default;
  ~Descriptors() {
    for (const int fd : fds_) {
      if (fd >= 0) close(fd);
    }
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  int* data() { return fds_.data(); }
  int operator[](size_t i) const { return fds_[i]; }
  int Take(size_t i) { return std::exchange(fds_[i], -1); }

 private:
  std::array<int, 2> fds_ = {-1, -1};
};

void CloseAndForget(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

absl::Status NoRoom() {
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot start a rank: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<RankProcess>> RankProcess::Start(
    const RankSpec& spec) {
  SKERRY_ASSIGN_OR_RETURN(std::unique_ptr<RankLog> log,
                          RankLog::Open(spec.log_directory, spec.rank));
  std::unique_ptr<RankProcess> rank(new RankProcess(spec.rank, std::move(log)));
  Descriptors sockets;
  Descriptors output;
  Descriptors null;
  null.data()[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0 ||
      pipe2(output.data(), O_CLOEXEC) != 0 || null[0] < 0 ||
      fcntl(output[0], F_SETFL, O_NONBLOCK) != 0) {
    return NoRoom();
  }
  runtime::ProcessSpec process = {
      .argv = spec.argv,
      .environment = spec.environment,
      .input_fd = null[0],
      .output_fd = output[1],
      .inherited_fds = {sockets[1], spec.control_fd},
      .own_group = true};
  process.environment.push_back(absl::StrCat("SKERRY_FD=", sockets[1]));
  process.environment.push_back(
      absl::StrCat("SKERRY_CONTROL_FD=", spec.control_fd));
  SKERRY_ASSIGN_OR_RETURN(rank->pid_, runtime::StartChild(process));
  rank->socket_ = sockets.Take(0);
  rank->output_ = output.Take(0);
  rank->end_fd_ = static_cast<int>(syscall(SYS_pidfd_open, rank->pid_, 0));
  return rank;
}

RankProcess::~RankProcess() {
  if (pid_ >= 0) {
    Signal(SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  for (int* fd : {&socket_, &output_, &end_fd_}) CloseAndForget(*fd);
}

void RankProcess::Signal(int signal, bool whole_group) {
  if (pid_ >= 0) kill(whole_group ? -pid_ : pid_, signal);
}

RankProcess::Heard RankProcess::ReadLines(
    absl::FunctionRef<bool(std::string_view line)> on_line) {
  std::array<char, kReadBytes> piece;
  ssize_t n = 0;
  do {
    n = recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    return Heard::kNothing;
  }
  if (n <= 0) return Heard::kEnd;
  lines_.Add({piece.data(), static_cast<size_t>(n)});
  while (const auto line = lines_.Next()) {
    if (!on_line(*line)) return Heard::kSome;
  }
  if (lines_.IsTooLong()) on_line(lines_.Rest());
  return Heard::kSome;
}

void RankProcess::Disconnect() {
  CloseAndForget(socket_);
  to_send_.clear();
}

void RankProcess::Send(std::string_view line) {
  if (socket_ < 0) return;
  to_send_ += line;
  SendMore();
}

void RankProcess::SendMore() {
  size_t sent = 0;
  while (sent < to_send_.size()) {
    const ssize_t n = send(socket_, to_send_.data() + sent,
                           to_send_.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
      // The end of the connection is heard when it is read.
      sent = to_send_.size();
    }
    if (n <= 0) break;
    sent += static_cast<size_t>(n);
  }
  to_send_.erase(0, sent);
}

bool RankProcess::ReadOutput() {
  std::array<char, kReadBytes> piece;
  const ssize_t n = read(output_, piece.data(), piece.size());
  if (n < 0 && errno == EINTR) return true;
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
  if (n <= 0) {
    CloseAndForget(output_);
    return false;
  }
  log_->Write({piece.data(), static_cast<size_t>(n)});
  return true;
}

std::optional<RankEnd> RankProcess::Reap() {
  if (pid_ < 0) return std::nullopt;
  siginfo_t info = {};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info,
             WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0) {
    return std::nullopt;
  }
  // Before the id can be another's.
  Signal(SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  CloseAndForget(end_fd_);
  for (int reads = 0; output_ >= 0 && reads < kLastReadsMax; ++reads) {
    if (!ReadOutput()) break;
  }
  log_->End();
  const runtime::ProcessExit exit = runtime::ExitOf(status);
  return RankEnd{.code = exit.code, .signal = exit.signal};
}

}  // namespace skerry::trainer::attach
