// tests/netem/token_bucket.h
//
// A rate that several flows share, computed with instants.
#ifndef SKERRY_TESTS_NETEM_TOKEN_BUCKET_H_
#define SKERRY_TESTS_NETEM_TOKEN_BUCKET_H_

#include <cstdint>

#include "base/instant.h"

namespace skerry::netem {

// Bytes pass one after the other in the order in which they are booked. There
// are no bursts: idle time does not raise the rate afterwards.
class TokenBucket {
 public:
  // 0 is no limit.
  explicit TokenBucket(double bytes_per_s) : bytes_per_s_(bytes_per_s) {}

  double bytes_per_s() const { return bytes_per_s_; }
  // What was booked stays booked.
  void SetRate(double bytes_per_s) { bytes_per_s_ = bytes_per_s; }
  // Books `bytes` that are there at `now`; returns when the last has passed.
  Instant Book(uint64_t bytes, Instant now);

 private:
  double bytes_per_s_;
  Instant free_at_;
};

}  // namespace skerry::netem

#endif  // SKERRY_TESTS_NETEM_TOKEN_BUCKET_H_
