// tests/netem/delay_line.h
//
// One direction of one connection across a link. It decides when incoming bytes
// may go out. It holds sizes and instants, not bytes.
#ifndef SKERRY_TESTS_NETEM_DELAY_LINE_H_
#define SKERRY_TESTS_NETEM_DELAY_LINE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"
#include "tests/netem/token_bucket.h"

namespace skerry::netem {

struct PathOptions {
  absl::Duration delay = absl::ZeroDuration();  // one way
  // Added to the delay: uniform in [0, jitter). Order stays.
  absl::Duration jitter = absl::ZeroDuration();
  // A stall is what TCP makes of losses it notices by time: the connection
  // stands still. Expected stalls per 10^6 bytes, and how long one lasts.
  double stalls_per_mb = 0;
  absl::Duration stall = absl::Milliseconds(200);
};

class DelayLine {
 public:
  // Bytes pass every bucket; the slowest decides. Buckets and `options` are
  // borrowed, so that changes hold for open connections too.
  DelayLine(const PathOptions& options, std::vector<TokenBucket*> buckets,
            uint64_t seed)
      : options_(options), buckets_(std::move(buckets)), random_(seed) {}

  // How many bytes may come in now. Few enough to pass in a few milliseconds,
  // so that connections that share a bucket take turns.
  uint64_t Room(Instant now) const;
  // When Room() grows by the passing of time alone.
  std::optional<Instant> NextRoom(Instant now) const;
  void Add(uint64_t bytes, Instant now);

  // How many bytes may go out now, and taking note that they did.
  uint64_t Due(Instant now) const;
  void Take(uint64_t bytes);
  // When Due() grows; none when nothing is inside or all of it is due.
  std::optional<Instant> NextDue(Instant now) const;
  uint64_t bytes_inside() const { return bytes_inside_; }

 private:
  struct Chunk {
    uint64_t bytes;
    Instant due;
  };
  double SlowestRate() const;

  const PathOptions& options_;
  std::vector<TokenBucket*> buckets_;
  Random random_;
  Instant departed_;  // when the last byte has passed the buckets
  uint64_t bytes_inside_ = 0;
  std::deque<Chunk> chunks_;
};

}  // namespace skerry::netem

#endif  // SKERRY_TESTS_NETEM_DELAY_LINE_H_
