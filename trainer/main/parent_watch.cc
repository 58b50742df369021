#include "trainer/main/parent_watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

namespace skerry::trainer {
namespace {

[[noreturn]] void EndWithoutParent(const char* program) {
  // Other threads may be anywhere; nothing here is worth unwinding.
  std::fprintf(stderr, "%s: the worker is gone\n", program);
  _exit(1);
}

}  // namespace

void ExitWithParent(const char* program, int parent_pid) {
  const pid_t parent = getppid();
  if (parent_pid != 0 && parent != parent_pid) EndWithoutParent(program);
  // A parent outside this namespace of processes cannot be watched.
  if (parent == 0) return;
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, parent, 0));
  // Kernels before 5.3: the death signal that the worker asked for remains.
  if (fd < 0 && errno == ENOSYS) return;
  // The parent may have ended just now, and its id may be another's.
  if (fd < 0 || getppid() != parent) EndWithoutParent(program);
  std::thread([program, fd] {
    pthread_setname_np(pthread_self(), "parent-watch");
    pollfd ended{.fd = fd, .events = POLLIN, .revents = 0};
    while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
    }
    EndWithoutParent(program);
  }).detach();
}

}  // namespace skerry::trainer
