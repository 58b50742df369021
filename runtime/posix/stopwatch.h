// runtime/posix/stopwatch.h
//
// Measures seconds for reports. Decisions use an Instant from a loop instead.
#ifndef SKERRY_RUNTIME_POSIX_STOPWATCH_H_
#define SKERRY_RUNTIME_POSIX_STOPWATCH_H_

#include <time.h>

namespace skerry::runtime {

class Stopwatch {
 public:
  Stopwatch() { clock_gettime(CLOCK_MONOTONIC, &start_); }
  // Since construction.
  double Seconds() const {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec - start_.tv_sec) +
           static_cast<double>(now.tv_nsec - start_.tv_nsec) * 1e-9;
  }

 private:
  timespec start_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_STOPWATCH_H_
