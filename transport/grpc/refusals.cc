#include "transport/grpc/refusals.h"

#include <algorithm>
#include <utility>

namespace skerry::transport {

std::optional<uint64_t> Refusals::Count(absl::Time now) {
  const runtime::MutexLock lock(mutex_);
  const double passed_s = std::max(0.0, absl::ToDoubleSeconds(now - last_));
  lines_ = std::min(kLinesAtOnce, lines_ + passed_s * kLinesPerS);
  last_ = now;
  if (lines_ < 1) {
    ++unsaid_;
    return std::nullopt;
  }
  lines_ -= 1;
  return std::exchange(unsaid_, 0);
}

}  // namespace skerry::transport
