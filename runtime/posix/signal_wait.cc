#include "runtime/posix/signal_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/check.h"
#include "runtime/posix/thread_name.h"

namespace skerry::runtime {
namespace {

constexpr std::array kSignals = {SIGTERM, SIGINT};

// Where the handler writes the signals of threads that do not block them.
std::atomic<int> handler_fd{-1};

void TellOfSignal(int signal) {
  const int saved = errno;
  const uint8_t number = static_cast<uint8_t>(signal);
  // A full pipe has signals enough.
  [[maybe_unused]] const ssize_t told =
      write(handler_fd.load(), &number, sizeof(number));
  errno = saved;
}

void SetHandlers(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int signal : kSignals) {
    SKERRY_CHECK(sigaction(signal, &action, nullptr) == 0);
  }
}

// The next signal, or 0 when `stop_fd` became readable first or the time was
// over; -1 is for ever.
int NextSignal(int signal_fd, int handled_fd, int stop_fd, int wait_ms = -1) {
  pollfd fds[] = {
      {signal_fd, POLLIN, 0}, {stop_fd, POLLIN, 0}, {handled_fd, POLLIN, 0}};
  for (;;) {
    const int ready = poll(fds, std::size(fds), wait_ms);
    if (ready < 0) {
      SKERRY_CHECK(errno == EINTR);
      continue;
    }
    if (ready == 0) return 0;
    if (fds[1].revents != 0) return 0;
    signalfd_siginfo info;
    if (read(signal_fd, &info, sizeof(info)) == sizeof(info)) {
      return static_cast<int>(info.ssi_signo);
    }
    uint8_t number = 0;
    if (read(handled_fd, &number, sizeof(number)) == sizeof(number)) {
      return number;
    }
  }
}

}  // namespace

SignalWait::SignalWait() {
  SKERRY_CHECK(pipe2(handled_, O_CLOEXEC | O_NONBLOCK) == 0);
  SKERRY_CHECK(handler_fd.exchange(handled_[1]) == -1);
  SetHandlers(TellOfSignal);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kSignals) sigaddset(&signals, signal);
  SKERRY_CHECK(pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0);
  signal_fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  stop_fd_ = eventfd(0, EFD_CLOEXEC);
  SKERRY_CHECK(signal_fd_ >= 0 && stop_fd_ >= 0);
}

SignalWait::~SignalWait() {
  const uint64_t one = 1;
  SKERRY_CHECK(write(stop_fd_, &one, sizeof(one)) == sizeof(one));
  if (thread_.joinable()) thread_.join();
  SetHandlers(SIG_DFL);
  handler_fd = -1;
  for (const int fd : {signal_fd_, stop_fd_, handled_[0], handled_[1]}) {
    close(fd);
  }
}

void SignalWait::Deliver(EventLoop& loop,
                         absl::AnyInvocable<void(int signal)> on_signal) {
  SKERRY_CHECK(!thread_.joinable());
  auto shared = std::make_shared<absl::AnyInvocable<void(int signal)>>(
      std::move(on_signal));
  thread_ = std::thread([this, &loop, shared = std::move(shared)] {
    NameThisThread("skerry-signals");
    while (const int signal = NextSignal(signal_fd_, handled_[0], stop_fd_)) {
      loop.Post([shared, signal] { (*shared)(signal); });
    }
  });
}

int SignalWait::Wait() {
  SKERRY_CHECK(!thread_.joinable());
  return NextSignal(signal_fd_, handled_[0], stop_fd_);
}

int SignalWait::WaitFor(absl::Duration time) {
  SKERRY_CHECK(!thread_.joinable());
  return NextSignal(signal_fd_, handled_[0], stop_fd_,
                    static_cast<int>(absl::ToInt64Milliseconds(time)));
}

}  // namespace skerry::runtime
