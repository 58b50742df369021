#include "transport/link_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace skerry::transport {
namespace {

constexpr uint64_t kTimedBytesMin = 16 * 1024;
// A shorter time counts as this one, because it shows only the grain of the
// loop that tells the time.
constexpr absl::Duration kTimedMin = absl::Milliseconds(2);
// A long busy time is cut into pieces that last at least this.
constexpr absl::Duration kPiece = absl::Milliseconds(250);
// Rates are weighted by how long they lasted. At each new rate the weight of
// the older ones is limited to kOlderMax times that of the new one, and kKept
// of it stays. A slow piece lasts long, so a link that gets slower shows after
// one. Fast pieces are shorter, so a link that recovers shows after several.
constexpr double kKept = 0.5;
constexpr double kOlderMax = 10;
constexpr size_t kRoundTrips = 8;

}  // namespace

void LinkMeter::OnSent(Instant now) {
  if (under_way_++ == 0) sent_ = now;
}

void LinkMeter::OnArrived(Instant now, uint64_t bytes) {
  if (under_way_ == 0) return;
  last_ = now;
  if (!arriving_) {
    arriving_ = true;
    begin_ = now;
    if (sent_) {
      first_ = now - *sent_;
      first_bytes_ = bytes;
    }
  } else {
    bytes_ += bytes;
    if (now - begin_ >= kPiece) {
      EndPiece();
      in_pieces_ = true;
    }
  }
  if (--under_way_ == 0) Rest();
}

void LinkMeter::OnLost() {
  if (under_way_ == 0) return;
  // The link was not there since the last arrival.
  if (--under_way_ == 0) Rest();
}

void LinkMeter::Rest() {
  // What is left of a long time may be the end of a burst of answers.
  if (in_pieces_) bytes_ = 0;
  EndPiece();
  arriving_ = in_pieces_ = false;
  sent_.reset();
  first_.reset();
}

void LinkMeter::EndPiece() {
  const uint64_t bytes = std::exchange(bytes_, 0);
  const absl::Duration lasted = last_ - std::exchange(begin_, last_);
  if (bytes == 0) return;
  timed_bytes_ += bytes;
  timed_ += lasted;
  if (timed_bytes_ < kTimedBytesMin && timed_ < kPiece) return;
  const double seconds = absl::ToDoubleSeconds(
      std::max(std::exchange(timed_, absl::ZeroDuration()), kTimedMin));
  const double rate =
      static_cast<double>(std::exchange(timed_bytes_, 0)) / seconds;
  const double older = kKept * std::min(weight_s_, kOlderMax * seconds);
  weight_s_ = older + seconds;
  const double weight = seconds / weight_s_;
  const double step = rate - mean_;
  mean_ += weight * step;
  variance_ = (1 - weight) * (variance_ + weight * step * step);
  if (!first_) return;
  const absl::Duration sending =
      absl::Seconds(static_cast<double>(first_bytes_) / rate);
  round_trips_.push_back(std::max(
      *std::exchange(first_, std::nullopt) - sending, absl::ZeroDuration()));
  if (round_trips_.size() > kRoundTrips) round_trips_.pop_front();
}

std::optional<LinkEstimate> LinkMeter::estimate() const {
  if (mean_ == 0) return std::nullopt;
  LinkEstimate link{mean_, std::sqrt(variance_) / mean_, {}, {}};
  if (round_trips_.empty()) return link;
  // The lower median: a peer that is late in fewer than half of its answers,
  // because it was not ready, is no unsteady link.
  std::vector<absl::Duration> sorted(round_trips_.begin(), round_trips_.end());
  std::sort(sorted.begin(), sorted.end());
  link.round_trip = sorted.front();
  link.round_trip_spread = sorted[(sorted.size() - 1) / 2] - sorted.front();
  return link;
}

}  // namespace skerry::transport
