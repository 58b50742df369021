#include "tests/netem/token_bucket.h"

#include <algorithm>

namespace skerry::netem {

Instant TokenBucket::Book(uint64_t bytes, Instant now) {
  free_at_ = std::max(free_at_, now);
  if (bytes_per_s_ > 0) {
    free_at_ =
        free_at_ + absl::Seconds(static_cast<double>(bytes) / bytes_per_s_);
  }
  return free_at_;
}

}  // namespace skerry::netem
