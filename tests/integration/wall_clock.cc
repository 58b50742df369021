// A library for LD_PRELOAD: the wall clock of the process is ahead by so many
// seconds as the file SKERRY_TEST_CLOCK says, a 64-bit number that may be
// negative and may change at any time. Waits until a time of that clock end
// when it shows that time, as the kernel's do when somebody sets its clock.
// Every other clock stays as it is.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
// A jump ends a wait after this long at most.
constexpr int64_t kSliceNs = 20'000'000;

const volatile int64_t* OpenOffset() {
  static const int64_t zero = 0;
  const char* path = getenv("SKERRY_TEST_CLOCK");
  const int fd = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return &zero;
  void* mapped = mmap(nullptr, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  return mapped == MAP_FAILED ? &zero : static_cast<const int64_t*>(mapped);
}

int64_t Ahead() {
  static const volatile int64_t* const offset = OpenOffset();
  return *offset;
}

template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int64_t ToNs(const timespec& time) {
  return time.tv_sec * kSecondNs + time.tv_nsec;
}

int64_t NowNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return ToNs(now);
}

long RealCall(long number, const long (&argument)[6]) {
  static auto* const real = Real<long(long, ...)>("syscall");
  return real(number, argument[0], argument[1], argument[2], argument[3],
              argument[4], argument[5]);
}

// A wait on a futex until the wall clock says `deadline`, in slices by the
// clock that does not jump.
long WaitByWallClock(const long (&argument)[6], const timespec& deadline) {
  for (;;) {
    const int64_t left = ToNs(deadline) - NowNs(CLOCK_REALTIME);
    if (left <= 0) {
      errno = ETIMEDOUT;
      return -1;
    }
    const int64_t end =
        NowNs(CLOCK_MONOTONIC) + (left < kSliceNs ? left : kSliceNs);
    const timespec slice = {.tv_sec = end / kSecondNs,
                            .tv_nsec = end % kSecondNs};
    const long result = RealCall(
        SYS_futex,
        {argument[0], argument[1] & ~long{FUTEX_CLOCK_REALTIME}, argument[2],
         reinterpret_cast<long>(&slice), argument[4], argument[5]});
    if (result == 0 || errno != ETIMEDOUT) return result;
  }
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static auto* const real = Real<int(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, now);
  const bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && wall) now->tv_sec += Ahead();
  return result;
}

extern "C" int gettimeofday(timeval* now, void* zone) noexcept {
  static auto* const real = Real<int(timeval*, void*)>("gettimeofday");
  const int result = real(now, zone);
  if (result == 0) now->tv_sec += Ahead();
  return result;
}

extern "C" time_t time(time_t* now) noexcept {
  static auto* const real = Real<time_t(time_t*)>("time");
  const time_t result = real(nullptr) + Ahead();
  if (now != nullptr) *now = result;
  return result;
}

// What abseil, and with it gRPC, waits by.
extern "C" long syscall(long number, ...) noexcept {
  long argument[6];
  va_list list;
  va_start(list, number);
  for (long& one : argument) one = va_arg(list, long);
  va_end(list);
  if (number == SYS_futex && argument[3] != 0 &&
      (argument[1] & FUTEX_CLOCK_REALTIME) != 0 &&
      (argument[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET) {
    return WaitByWallClock(argument,
                           *reinterpret_cast<const timespec*>(argument[3]));
  }
  return RealCall(number, argument);
}
