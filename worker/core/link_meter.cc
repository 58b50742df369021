#include "worker/core/link_meter.h"

#include <algorithm>
#include <cmath>

namespace skerry::worker {
namespace {

constexpr uint64_t kTrainBytesMin = 16 * 1024;
// What is shorter is the grain of the loop that tells the time.
constexpr absl::Duration kTrainTimeMin = absl::Milliseconds(2);
constexpr double kNewest = 0.3;  // weight of the newest train
constexpr size_t kRoundTrips = 8;

}  // namespace

void LinkMeter::OnSent(Instant now, uint64_t bytes) {
  if (unanswered_++ > 0) return;
  spoiled_ = false;
  sent_ = now;
  answered_.reset();
  bytes_ = 0;
}

void LinkMeter::OnAnswered(Instant now, uint64_t bytes, bool taken) {
  if (unanswered_ == 0) return;
  spoiled_ |= !taken;
  if (!answered_) {
    answered_ = now;
    first_bytes_ = bytes;
  } else {
    bytes_ += bytes;
  }
  last_ = now;
  if (--unanswered_ == 0) EndTrain();
}

void LinkMeter::EndTrain() {
  if (spoiled_ || bytes_ < kTrainBytesMin) return;
  const double seconds =
      absl::ToDoubleSeconds(std::max(last_ - *answered_, kTrainTimeMin));
  const double rate = static_cast<double>(bytes_) / seconds;
  if (mean_ == 0) {
    mean_ = rate;
  } else {
    const double step = rate - mean_;
    mean_ += kNewest * step;
    variance_ = (1 - kNewest) * (variance_ + kNewest * step * step);
  }
  const absl::Duration sending =
      absl::Seconds(static_cast<double>(first_bytes_) / rate);
  round_trips_.push_back(
      std::max(*answered_ - sent_ - sending, absl::ZeroDuration()));
  if (round_trips_.size() > kRoundTrips) round_trips_.pop_front();
}

std::optional<LinkEstimate> LinkMeter::estimate() const {
  if (round_trips_.empty()) return std::nullopt;
  return LinkEstimate{
      mean_, std::sqrt(variance_) / mean_,
      *std::min_element(round_trips_.begin(), round_trips_.end())};
}

}  // namespace skerry::worker
