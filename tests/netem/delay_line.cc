#include "tests/netem/delay_line.h"

#include <algorithm>

#include "base/check.h"

namespace skerry::netem {
namespace {

// Bytes are taken in this long before they pass, so that a relay that is woken
// late still keeps its buckets busy.
constexpr absl::Duration kLead = absl::Milliseconds(20);
constexpr double kChunkSeconds = 0.002;
constexpr uint64_t kChunkBytesMin = 1448;
constexpr uint64_t kChunkBytesMax = 256 << 10;
// Room for an application that does not read, besides what is under way.
constexpr uint64_t kStandingBytesMax = 4 << 20;

}  // namespace

double DelayLine::SlowestRate() const {
  double slowest = 0;
  for (const TokenBucket* bucket : buckets_) {
    const double rate = bucket->bytes_per_s();
    if (rate > 0 && (slowest == 0 || rate < slowest)) slowest = rate;
  }
  return slowest;
}

uint64_t DelayLine::Room(Instant now) const {
  if (departed_ - now > kLead) return 0;
  const double rate = SlowestRate();
  if (rate == 0) {
    return bytes_inside_ >= 16 * kStandingBytesMax ? 0 : kChunkBytesMax;
  }
  const absl::Duration under_way = options_.delay + options_.jitter + kLead;
  const double full = rate * absl::ToDoubleSeconds(under_way) +
                      static_cast<double>(kStandingBytesMax);
  if (static_cast<double>(bytes_inside_) >= full) return 0;
  return std::clamp(static_cast<uint64_t>(rate * kChunkSeconds), kChunkBytesMin,
                    kChunkBytesMax);
}

std::optional<Instant> DelayLine::NextRoom(Instant now) const {
  if (departed_ - now <= kLead) return std::nullopt;
  return departed_ + -kLead;
}

void DelayLine::Add(uint64_t bytes, Instant now) {
  Instant departs = std::max(departed_, now);
  for (TokenBucket* bucket : buckets_) {
    departs = std::max(departs, bucket->Book(bytes, now));
  }
  const double stalls =
      options_.stalls_per_mb * static_cast<double>(bytes) / 1e6;
  if (random_.Uniform() < stalls) departs = departs + options_.stall;
  departed_ = departs;
  Instant due = departs + options_.delay + options_.jitter * random_.Uniform();
  if (!chunks_.empty()) due = std::max(due, chunks_.back().due);
  chunks_.push_back({bytes, due});
  bytes_inside_ += bytes;
}

uint64_t DelayLine::Due(Instant now) const {
  uint64_t due = 0;
  for (const Chunk& chunk : chunks_) {
    if (chunk.due > now) break;
    due += chunk.bytes;
  }
  return due;
}

void DelayLine::Take(uint64_t bytes) {
  SKERRY_CHECK(bytes <= bytes_inside_);
  bytes_inside_ -= bytes;
  while (bytes > 0) {
    Chunk& chunk = chunks_.front();
    const uint64_t taken = std::min(bytes, chunk.bytes);
    chunk.bytes -= taken;
    bytes -= taken;
    if (chunk.bytes == 0) chunks_.pop_front();
  }
}

std::optional<Instant> DelayLine::NextDue(Instant now) const {
  for (const Chunk& chunk : chunks_) {
    if (chunk.due > now) return chunk.due;
  }
  return std::nullopt;
}

}  // namespace skerry::netem
