#include "worker/core/link_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace skerry::worker {
namespace {

constexpr uint64_t kTimedBytesMin = 16 * 1024;
// What is shorter is the grain of the loop that tells the time.
constexpr absl::Duration kTimedMin = absl::Milliseconds(2);
constexpr double kNewest = 0.3;  // weight of the newest rate
constexpr size_t kRoundTrips = 8;

}  // namespace

void LinkMeter::OnSent(Instant now) {
  if (unanswered_++ == 0) sent_ = now;
}

void LinkMeter::OnAnswered(Instant now, uint64_t bytes) {
  if (unanswered_ == 0) return;
  if (!answered_) {
    answered_ = now;
    first_bytes_ = bytes;
  } else {
    bytes_ += bytes;
  }
  last_ = now;
  if (--unanswered_ == 0) EndTrain();
}

void LinkMeter::OnForgotten() {
  if (unanswered_ == 0) return;
  --unanswered_;
  // The link may have been idle since the last answer, and what is answered
  // from now on was sent nobody knows when.
  EndTrain();
}

void LinkMeter::EndTrain() {
  const std::optional<Instant> sent = std::exchange(sent_, std::nullopt);
  const std::optional<Instant> answered =
      std::exchange(answered_, std::nullopt);
  const uint64_t bytes = std::exchange(bytes_, 0);
  if (bytes == 0) return;
  timed_bytes_ += bytes;
  timed_ += last_ - *answered;
  if (timed_bytes_ < kTimedBytesMin) return;
  const double seconds = absl::ToDoubleSeconds(std::max(timed_, kTimedMin));
  const double rate = static_cast<double>(timed_bytes_) / seconds;
  timed_bytes_ = 0;
  timed_ = absl::ZeroDuration();
  if (mean_ == 0) {
    mean_ = rate;
  } else {
    const double step = rate - mean_;
    mean_ += kNewest * step;
    variance_ = (1 - kNewest) * (variance_ + kNewest * step * step);
  }
  if (!sent) return;
  const absl::Duration sending =
      absl::Seconds(static_cast<double>(first_bytes_) / rate);
  round_trips_.push_back(
      std::max(*answered - *sent - sending, absl::ZeroDuration()));
  if (round_trips_.size() > kRoundTrips) round_trips_.pop_front();
}

std::optional<LinkEstimate> LinkMeter::estimate() const {
  if (mean_ == 0) return std::nullopt;
  absl::Duration round_trip;
  if (!round_trips_.empty()) {
    round_trip = *std::min_element(round_trips_.begin(), round_trips_.end());
  }
  return LinkEstimate{mean_, std::sqrt(variance_) / mean_, round_trip};
}

}  // namespace skerry::worker
