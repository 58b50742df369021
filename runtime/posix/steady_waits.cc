#include "runtime/posix/steady_waits.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdint>

namespace skerry::runtime {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
// Longer than any process lives.
constexpr int64_t kWaitNsMax = int64_t{100} * 365 * 86'400 * kSecondNs;

using Syscall = long(long, ...);

// Made without a guard, since libstdc++'s guards wait in syscall() themselves.
std::atomic<Syscall*> libc_syscall{nullptr};

Syscall* LibcSyscall() {
  Syscall* found = libc_syscall.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = reinterpret_cast<Syscall*>(dlsym(RTLD_NEXT, "syscall"));
    libc_syscall.store(found, std::memory_order_relaxed);
  }
  return found;
}

int64_t NowNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

// The steady clock's moment that is as far away as the wall clock's `deadline`.
timespec ToSteady(const timespec& deadline) {
  const int64_t until =
      std::min<int64_t>(deadline.tv_sec, INT64_MAX / kSecondNs - 1) *
          kSecondNs +
      deadline.tv_nsec;
  const int64_t left =
      std::clamp<int64_t>(until - NowNs(CLOCK_REALTIME), 0, kWaitNsMax);
  const int64_t end = NowNs(CLOCK_MONOTONIC) + left;
  return {.tv_sec = end / kSecondNs, .tv_nsec = end % kSecondNs};
}

bool WaitsByWallClock(long number, const long (&arguments)[6]) {
  return number == SYS_futex && arguments[3] != 0 &&
         (arguments[1] & FUTEX_CLOCK_REALTIME) != 0 &&
         (arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
}

}  // namespace

bool WaitsAreSteady() {
  return dlsym(RTLD_DEFAULT, "syscall") == reinterpret_cast<void*>(&::syscall);
}

}  // namespace skerry::runtime

// Like libc's it reads six arguments, however many there are.
extern "C" __attribute__((no_sanitize("address"))) long syscall(long number,
                                                                ...) noexcept {
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  timespec steady;
  if (skerry::runtime::WaitsByWallClock(number, arguments)) {
    steady = skerry::runtime::ToSteady(
        *reinterpret_cast<const timespec*>(arguments[3]));
    arguments[1] &= ~long{FUTEX_CLOCK_REALTIME};
    arguments[3] = reinterpret_cast<long>(&steady);
  }
  return skerry::runtime::LibcSyscall()(number, arguments[0], arguments[1],
                                        arguments[2], arguments[3],
                                        arguments[4], arguments[5]);
}
