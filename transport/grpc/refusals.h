// transport/grpc/refusals.h
//
// Tells of refused callers without filling the log: the first ones get a line
// each, and after them one a second that says how many it stands for.
#ifndef SKERRY_TRANSPORT_GRPC_REFUSALS_H_
#define SKERRY_TRANSPORT_GRPC_REFUSALS_H_

#include <cstdint>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "runtime/posix/mutex.h"

namespace skerry::transport {

// Any thread may call it.
class Refusals {
 public:
  // Counts one more. Returns how many have had no line since the last line, if
  // this one gets a line, and none if it does not.
  std::optional<uint64_t> Count(absl::Time now);

 private:
  runtime::Mutex mutex_;
  double lines_ ABSL_GUARDED_BY(mutex_) = kLinesAtOnce;
  uint64_t unsaid_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Time last_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();

  static constexpr double kLinesAtOnce = 20;
  static constexpr double kLinesPerS = 1;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_REFUSALS_H_
